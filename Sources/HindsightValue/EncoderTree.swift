// The other way to encode: as a tree, for what can't be written front to back.
//
// `Codable` allows containers to be filled in turns, a super encoder to be used late, and a key to
// be set twice. The linear way notices, and the value is encoded again like this, at a few times
// the cost. It always holds: what is written lies in the state's buffer in the order of writing;
// slots say which stretch of it, or which container, is whose value.

/// A value encoded as a tree of containers over a buffer.
final class EncoderTree {
  struct Slot {
    /// Where its bytes are, while or after they are written; empty: nothing, or a container.
    var start = -1
    var end = -1
    var node = -1
    /// What it is in its container.
    var parent: Int
    var step: Step
  }

  /// How to get from a container to a slot.
  enum Step {
    case root
    case index(Int)
    case key([UInt8])
  }

  struct Node {
    var kind: ContainerKind
    var slot: Int
    var slots: [Int] = []
    /// Of a map, by encoded key: where in `slots` its value is.
    var places: [[UInt8]: Int] = [:]
  }

  let serial: UInt32
  var slots: [Slot] = [Slot(parent: -1, step: .root)]
  var nodes: [Node] = []
  /// The slot that is written to.
  var current = 0

  init(serial: UInt32, offset: Int) {
    self.serial = serial
    slots[0].start = offset
  }

  /// Ends the stretch of the current slot: another one begins, or nothing more comes.
  func finishCurrent(at offset: Int) {
    if slots[current].end < 0 { slots[current].end = offset }
  }

  /// Whether nothing is encoded in a slot yet.
  func isEmpty(_ slot: Int, at offset: Int) -> Bool {
    let end = slots[slot].end < 0 ? offset : slots[slot].end
    return slots[slot].node < 0 && (slots[slot].start < 0 || end == slots[slot].start)
  }

  /// Makes a slot without content the current one.
  func resume(_ slot: Int, at offset: Int) {
    finishCurrent(at: offset)
    slots[slot].start = offset
    slots[slot].end = -1
    current = slot
  }

  /// Forgets what a slot holds; it is the current one then.
  func clear(_ slot: Int, at offset: Int) {
    slots[slot].node = -1
    resume(slot, at: offset)
  }

  func add(to node: Int, _ step: Step, at offset: Int) {
    finishCurrent(at: offset)
    slots.append(Slot(start: offset, parent: node, step: step))
    current = slots.count - 1
  }

  /// A new slot for a key: what the key had before is forgotten.
  func add(to node: Int, key: [UInt8], at offset: Int) -> Bool {
    add(to: node, .key(key), at: offset)
    if let place = nodes[node].places[key] {
      nodes[node].slots[place] = current
      return false
    }
    nodes[node].places[key] = nodes[node].slots.count
    nodes[node].slots.append(current)
    return true
  }

  // MARK: Assembling

  /// Appends a slot's value.
  func write(
    _ slot: Int, depth: Int, from buffer: UnsafeRawBufferPointer, to writer: inout CBORWriter
  )
    throws
  {
    let slot = slots[slot]
    guard slot.node >= 0 else {
      guard slot.end > slot.start else { return writer.appendByte(0xa0) }
      return writer.append(encoded: UnsafeRawBufferPointer(rebasing: buffer[slot.start..<slot.end]))
    }
    guard depth < CBOR.depthLimit else { throw CBORError(.tooDeep, at: writer.count) }
    let node = nodes[slot.node]
    writer.appendHead(node.kind.major, UInt64(node.slots.count))
    switch node.kind {
    case .map, .dictionary:
      let sorted = node.places.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for (key, place) in sorted {
        writer.append(encoded: key)
        try write(node.slots[place], depth: depth + 1, from: buffer, to: &writer)
      }
    case .set:
      var items: [[UInt8]] = []
      for slot in node.slots {
        var item = CBORWriter()
        try write(slot, depth: depth + 1, from: buffer, to: &item)
        items.append(item.bytes)
      }
      for item in items.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        writer.append(encoded: item)
      }
    case .array, .root:
      for slot in node.slots {
        try write(slot, depth: depth + 1, from: buffer, to: &writer)
      }
    }
  }
}

extension EncoderCore {
  /// The container of the current slot; if there is one of the same kind already, that.
  @inline(never)
  func openInTree(_ kind: ContainerKind) -> EncoderTicket {
    guard let tree = state.pointee.tree, state.pointee.failure == nil else { return .none }
    let slot = tree.current
    if tree.slots[slot].node >= 0 {
      let node = tree.slots[slot].node
      guard tree.nodes[node].kind == kind else { return refuseSecond() }
      return EncoderTicket(frame: Int32(node), serial: tree.serial)
    }
    guard tree.isEmpty(slot, at: count) else { return refuseSecond() }
    tree.nodes.append(EncoderTree.Node(kind: kind, slot: slot))
    tree.slots[slot].node = tree.nodes.count - 1
    return EncoderTicket(frame: Int32(tree.nodes.count - 1), serial: tree.serial)
  }

  private func refuseSecond() -> EncoderTicket {
    fail(encodedTwice())
    return .none
  }

  func beginEntryInTree(_ ticket: EncoderTicket, _ text: String) throws {
    guard let tree = state.pointee.tree else { throw NeedsTree() }
    _ = tree.add(to: Int(ticket.frame), key: Self.encoded(text), at: count)
  }

  static func encoded(_ text: String) -> [UInt8] {
    var key = CBORWriter(capacity: text.utf8.count + 32)
    key.append(text)
    return key.bytes
  }

  /// Goes back to a key's container if it has one of this kind, so that it can be asked for twice.
  func resumeInTree(_ ticket: EncoderTicket, _ text: String, _ kind: ContainerKind) -> Bool {
    guard let tree = state.pointee.tree, ticket.serial == tree.serial else { return false }
    let node = tree.nodes[Int(ticket.frame)]
    guard let place = node.places[Self.encoded(text)] else { return false }
    let child = tree.slots[node.slots[place]].node
    guard child >= 0, tree.nodes[child].kind == kind else { return false }
    tree.finishCurrent(at: count)
    tree.current = node.slots[place]
    return true
  }

  func beginItemInTree(_ ticket: EncoderTicket) throws {
    guard let tree = state.pointee.tree else { throw NeedsTree() }
    let node = Int(ticket.frame)
    tree.add(to: node, .index(tree.nodes[node].slots.count), at: count)
    tree.nodes[node].slots.append(tree.current)
  }

  /// Encodes a value as a tree, behind what is in the buffer.
  func encodeAsTree<T: Encodable>(_ value: T) throws {
    let start = count
    let tree = EncoderTree(serial: nextSerial(), offset: start)
    state.pointee.needsTree = false
    state.pointee.failure = nil
    state.pointee.depth = state.pointee.root
    state.pointee.tree = tree
    // No frame is ever on top, so that each container asks for its place.
    state.pointee.top = -2
    try self.value(value)
    if let failure = state.pointee.failure { throw failure }
    tree.finishCurrent(at: count)
    var assembled = CBORWriter(capacity: count - start + 64)
    try state.pointee.writer.withBytes {
      try tree.write(0, depth: state.pointee.root, from: $0, to: &assembled)
    }
    state.pointee.writer.truncate(to: start)
    assembled.withBytes { state.pointee.writer.append(encoded: $0) }
  }
}

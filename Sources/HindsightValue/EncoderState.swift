// What an encoder works on: a buffer, and the stack of the containers that are open in it.
// It always holds: bytes before an open container's head are final; a map's entries are sorted when
// it closes; and the fixed `frames` let a container that escaped its call be told by its serial.

/// The kind of a container that is being encoded.
enum ContainerKind: UInt8 {
  /// What is around the outermost value: one slot.
  case root
  case array
  /// An array whose items are sorted by their bytes when it closes.
  case set
  /// A map of a keyed container: the last value of a key counts.
  case map
  /// A map of a dictionary: no key may come twice.
  case dictionary

  var isMap: Bool { self == .map || self == .dictionary }
  var major: UInt8 { isMap ? 5 : 4 }
}

/// A container that is open.
struct EncoderFrame {
  var kind: ContainerKind
  var isUnsorted: Bool
  /// Tells this container from all others of this state.
  var serial: UInt32
  /// The offset of its head.
  var head: Int
  /// The offset of the value that is being encoded, behind its key.
  var value: Int
  var firstEntry: Int
  var count: Int
  var lastPrefix: UInt64
}

/// A key and its value (of a set: an item) in the buffer.
struct EncoderEntry {
  var prefix: UInt64
  var offset: Int
}

/// Names an open container: the index of its frame (in a tree: its node), and its serial.
struct EncoderTicket {
  var frame: Int32
  var serial: UInt32

  static var none: EncoderTicket { EncoderTicket(frame: -1, serial: 0) }
}

/// Thrown to leave a linear encoding that has to be done again as a tree.
struct NeedsTree: Error {}

struct EncoderState: ~Copyable {
  var writer = CBORWriter(capacity: 1 << 12)
  let frames: UnsafeMutablePointer<EncoderFrame>
  /// The index of the innermost open container; `root` is what is around the outermost value,
  /// as deep as the writer says that it is.
  var top = 0
  var root = 0
  var entries: UnsafeMutablePointer<EncoderEntry>
  var entryCount = 0
  var entryCapacity = 256
  var serial: UInt32 = 1
  /// Serials below this belong to earlier calls.
  var firstSerial: UInt32 = 1
  var isActive = false
  var needsTree = false
  /// The first error of a method that can't throw.
  var failure: (any Error)?
  var tree: EncoderTree?
  var depth = 0
  var stackLimit: UInt?
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  var usesCBORCodable = true
  var keys = TypeTable()
  var routes = TypeTable()
  var containers = ContainerPool()
  var sorter = EntrySorter()

  init() {
    frames = .allocate(capacity: CBOR.depthLimit + 1)
    let none = EncoderFrame(
      kind: .root, isUnsorted: false, serial: 0, head: 0, value: -1, firstEntry: 0, count: 0,
      lastPrefix: 0)
    frames.initialize(repeating: none, count: CBOR.depthLimit + 1)
    entries = .allocate(capacity: entryCapacity)
  }
}

/// A pointer to the state, held by everything that encodes. Copying it costs nothing.
struct EncoderCore {
  let state: UnsafeMutablePointer<EncoderState>

  static let pool: CoderPool = CoderPool { pointer in
    let state: UnsafeMutableRawPointer? = pointer
    if let state { EncoderCore.pool.leave(state) }
  }

  @inline(__always)
  static func take() -> EncoderCore {
    if let raw = pool.current {
      let state = raw.assumingMemoryBound(to: EncoderState.self)
      if _fastPath(!state.pointee.isActive) { return EncoderCore(state: state) }
    }
    let raw = pool.takeOther {
      let state = UnsafeMutablePointer<EncoderState>.allocate(capacity: 1)
      state.initialize(to: EncoderState())
      return UnsafeMutableRawPointer(state)
    }
    return EncoderCore(state: raw.assumingMemoryBound(to: EncoderState.self))
  }

  @inline(__always)
  func give() { Self.pool.give(UnsafeMutableRawPointer(state)) }

  @inline(__always)
  var count: Int { state.pointee.writer.used }

  @inline(__always)
  func nextSerial() -> UInt32 {
    state.pointee.serial &+= 1
    return state.pointee.serial
  }

  /// Starts a call: everything of the calls before is forgotten.
  func begin(_ userInfo: [CodingUserInfoKey: any Sendable], usesCBORCodable: Bool) {
    state.pointee.firstSerial = nextSerial()
    state.pointee.isActive = true
    state.pointee.needsTree = false
    state.pointee.stackLimit = nil
    if _slowPath(!userInfo.isEmpty) { state.pointee.userInfo = userInfo }
    state.pointee.usesCBORCodable = usesCBORCodable
    state.pointee.entryCount = 0
    let root = min(state.pointee.writer.depth, CBOR.depthLimit)
    state.pointee.depth = root
    state.pointee.root = root
    state.pointee.top = root
    state.pointee.frames[root].kind = .root
    state.pointee.frames[root].serial = state.pointee.firstSerial
    state.pointee.frames[root].value = count
  }

  func end() {
    state.pointee.isActive = false
    if _slowPath(state.pointee.tree != nil) { state.pointee.tree = nil }
    if _slowPath(state.pointee.failure != nil) { state.pointee.failure = nil }
    if _slowPath(!state.pointee.userInfo.isEmpty) { state.pointee.userInfo = [:] }
    state.pointee.containers.release(to: 0)
    if _slowPath(state.pointee.sorter.isLarge) { state.pointee.sorter = EntrySorter() }
  }

  // MARK: Frames

  /// Opens a container as the value of the innermost slot.
  @inline(__always)
  func open(_ kind: ContainerKind) -> EncoderTicket {
    if _slowPath(state.pointee.tree != nil) { return openInTree(kind) }
    let index = state.pointee.top &+ 1
    guard _fastPath(index <= CBOR.depthLimit) else {
      fail(tooDeep())
      return .none
    }
    let serial = nextSerial()
    state.pointee.top = index
    state.pointee.frames[index] = EncoderFrame(
      kind: kind, isUnsorted: false, serial: serial, head: count, value: -1,
      firstEntry: state.pointee.entryCount, count: 0, lastPrefix: 0)
    state.pointee.writer.appendByte(kind.major &<< 5)
    return EncoderTicket(frame: Int32(truncatingIfNeeded: index), serial: serial)
  }

  /// Makes a container the innermost one, closing those inside of it. False: this is a tree.
  @inline(__always)
  func activate(_ ticket: EncoderTicket) throws -> Bool {
    let index = Int(ticket.frame)
    if _fastPath(
      state.pointee.top == index && state.pointee.frames[index].serial == ticket.serial)
    {
      return true
    }
    return try activateOther(ticket)
  }

  @inline(never)
  private func activateOther(_ ticket: EncoderTicket) throws -> Bool {
    if let failure = state.pointee.failure { throw failure }
    if let tree = state.pointee.tree {
      guard ticket.serial == tree.serial else { throw escaped() }
      return false
    }
    guard state.pointee.isActive, ticket.serial >= state.pointee.firstSerial else {
      throw escaped()
    }
    let index = Int(ticket.frame)
    if index >= 0, state.pointee.top > index,
      state.pointee.frames[index].serial == ticket.serial
    {
      close(to: index)
      return true
    }
    state.pointee.needsTree = true
    throw NeedsTree()
  }

  /// A value that encoded nothing is an empty map.
  @inline(__always)
  func fillHole(_ frame: UnsafeMutablePointer<EncoderFrame>) {
    if _slowPath(frame.pointee.value == count) { state.pointee.writer.appendByte(0xa0) }
  }

  /// Closes the containers inside of this one.
  @inline(__always)
  func close(to index: Int) {
    while state.pointee.top > index { closeTop() }
  }

  @inline(__always)
  private func closeTop() {
    let frame = state.pointee.frames + state.pointee.top
    fillHole(frame)
    if _slowPath(frame.pointee.isUnsorted || frame.pointee.kind == .set) { sort(frame) }
    let pairs = frame.pointee.count
    if _fastPath(pairs < 24) {
      let byte = frame.pointee.kind.major &<< 5 | UInt8(truncatingIfNeeded: pairs)
      state.pointee.writer.base.storeBytes(
        of: byte, toByteOffset: frame.pointee.head, as: UInt8.self)
    } else {
      writeLongHead(frame)
    }
    state.pointee.entryCount = frame.pointee.firstEntry
    state.pointee.top &-= 1
  }

  /// Makes room for a head of more than one byte.
  @inline(never)
  private func writeLongHead(_ frame: UnsafeMutablePointer<EncoderFrame>) {
    let pairs = frame.pointee.count
    let extra = pairs <= 0xff ? 1 : pairs <= 0xffff ? 2 : pairs <= 0xffff_ffff ? 4 : 8
    state.pointee.writer.reserve(extra)
    let content = state.pointee.writer.base + frame.pointee.head + 1
    let size = count - frame.pointee.head - 1
    (content + extra).copyMemory(from: content, byteCount: size)
    _ = CBORWriter.storeHead(content - 1, frame.pointee.kind.major, UInt64(pairs))
    state.pointee.writer.used += extra
  }

  @inline(never)
  private func sort(_ frame: UnsafeMutablePointer<EncoderFrame>) {
    let first = state.pointee.entries + frame.pointee.firstEntry
    let number = frame.pointee.count
    guard number > 1 else { return }
    state.pointee.writer.reserve(8)
    let base = UnsafeRawPointer(state.pointee.writer.base)
    if frame.pointee.kind == .set {
      for index in 0..<number {
        let next = index + 1 < number ? first[index + 1].offset : count
        let offset = first[index].offset
        first[index].prefix = keyPrefix(base + offset, next - offset)
      }
    }
    let hasTwins = state.pointee.sorter.sort(
      first, number, in: state.pointee.writer.base, end: count)
    guard hasTwins else { return }
    switch frame.pointee.kind {
    case .map: state.pointee.needsTree = true
    case .dictionary: fail(twinKeys())
    default: break
    }
  }

  // MARK: Entries

  /// Begins a map's next pair: its key is written, its value comes next.
  @inline(__always)
  func beginEntry<K: CodingKey>(
    _ ticket: EncoderTicket, _ keys: UnsafeMutablePointer<KeyTable>, _ key: borrowing K
  ) throws {
    guard _fastPath(try activate(ticket)) else {
      return try beginEntryInTree(ticket, key.stringValue)
    }
    let frame = state.pointee.frames + Int(ticket.frame)
    fillHole(frame)
    let offset = count
    let prefix: UInt64
    if _fastPath(keys.pointee.isSmall) {
      let bytes = keys.pointee.bytes(of: key)
      let length = Int(bytes.pointee.length)
      state.pointee.writer.reserve(length &+ 16)
      let target = state.pointee.writer.base + offset
      let source = bytes.pointee.bytes
      if _fastPath(length <= 16) {
        let (low, high) = (
          source.load(as: UInt64.self), source.load(fromByteOffset: 8, as: UInt64.self)
        )
        target.storeBytes(of: low, as: UInt64.self)
        target.storeBytes(of: high, toByteOffset: 8, as: UInt64.self)
      } else {
        target.copyMemory(from: source, byteCount: length)
      }
      state.pointee.writer.used &+= length
      prefix = bytes.pointee.prefix
    } else {
      prefix = writeKey(key.stringValue)
    }
    push(frame, offset, prefix)
  }

  @inline(__always)
  func writeKey(_ text: String) -> UInt64 {
    let offset = count
    state.pointee.writer.append(text)
    return prefix(from: offset)
  }

  @inline(__always)
  func prefix(from offset: Int) -> UInt64 {
    state.pointee.writer.reserve(8)
    return keyPrefix(UnsafeRawPointer(state.pointee.writer.base) + offset, count &- offset)
  }

  @inline(__always)
  func push(_ frame: UnsafeMutablePointer<EncoderFrame>, _ offset: Int, _ prefix: UInt64) {
    if _slowPath(state.pointee.entryCount == state.pointee.entryCapacity) { growEntries() }
    state.pointee.entries[state.pointee.entryCount] = EncoderEntry(prefix: prefix, offset: offset)
    state.pointee.entryCount &+= 1
    if prefix <= frame.pointee.lastPrefix && frame.pointee.count > 0 {
      frame.pointee.isUnsorted = true
    }
    frame.pointee.lastPrefix = prefix
    frame.pointee.count &+= 1
    frame.pointee.value = count
  }

  @inline(never)
  private func growEntries() {
    let capacity = state.pointee.entryCapacity * 2
    let larger = UnsafeMutablePointer<EncoderEntry>.allocate(capacity: capacity)
    larger.moveInitialize(from: state.pointee.entries, count: state.pointee.entryCount)
    state.pointee.entries.deallocate()
    state.pointee.entries = larger
    state.pointee.entryCapacity = capacity
  }

  /// Begins a map's next pair with a key that comes from code.
  @inline(__always)
  func beginEntry(_ ticket: EncoderTicket, text: String) throws {
    guard _fastPath(try activate(ticket)) else { return try beginEntryInTree(ticket, text) }
    let frame = state.pointee.frames + Int(ticket.frame)
    fillHole(frame)
    let offset = count
    push(frame, offset, writeKey(text))
  }

  /// Begins an array's next item.
  @inline(__always)
  func beginItem(_ ticket: EncoderTicket) throws {
    guard _fastPath(try activate(ticket)) else { return try beginItemInTree(ticket) }
    let frame = state.pointee.frames + Int(ticket.frame)
    fillHole(frame)
    if _slowPath(frame.pointee.kind == .set) { return push(frame, count, 0) }
    frame.pointee.count &+= 1
    frame.pointee.value = count
  }
}

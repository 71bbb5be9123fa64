// What a decoder works on: bytes, and how it got to where it is in them.
// It always holds: containers name places by offset; the epoch tells those of an earlier call,
// whose bytes may be gone, before any byte is read.

/// How to get from a value's container to the value; the way to it is the chain of parents.
struct PathNode {
  var parent: UInt32
  /// The offset of the value's key, or its index with `PathNode.isIndex`.
  var step: UInt32
  /// Of an array that is being read: how many items it has.
  var itemCount: UInt32

  static let isIndex: UInt32 = 1 << 31
  static let noStep: UInt32 = .max
}

/// A value's place in the path: its container's node, and the step from there.
struct Place {
  var node: UInt32
  var step: UInt32

  @inline(__always)
  init(node: UInt32, step: UInt32 = PathNode.noStep) {
    self.node = node
    self.step = step
  }

  @inline(__always)
  init(node: UInt32, key: UInt32) { self.init(node: node, step: key) }

  @inline(__always)
  init(node: UInt32, index: Int) {
    self.init(node: node, step: UInt32(truncatingIfNeeded: index) | PathNode.isIndex)
  }
}

struct DecoderState: ~Copyable {
  var start = UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  var end = UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  /// The bytes where something was last read to its end; -1: not known.
  var lastEnd = -1
  var epoch: UInt32 = 1
  var isActive = false
  var depth = 0
  var stackLimit: UInt?
  /// What may still be reserved on the word of counts, in bytes.
  var reservable = 0
  var nodes: UnsafeMutablePointer<PathNode>
  var nodeCount = 0
  var nodeCapacity = 64
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  var usesCBORCodable = true
  var keys = TypeTable()
  var routes = TypeTable()
  var containers = ContainerPool()
  let sizes = CBORSkip.sizes

  init() {
    nodes = .allocate(capacity: nodeCapacity)
    nodes.initialize(
      repeating: PathNode(parent: 0, step: PathNode.noStep, itemCount: 0), count: nodeCapacity)
  }
}

/// A pointer to the state, held by everything that decodes. Copying it costs nothing.
struct DecoderCore {
  let state: UnsafeMutablePointer<DecoderState>

  static let pool: CoderPool = CoderPool { pointer in
    let state: UnsafeMutableRawPointer? = pointer
    if let state { DecoderCore.pool.leave(state) }
  }

  @inline(__always)
  static func take() -> DecoderCore {
    if let raw = pool.current {
      let state = raw.assumingMemoryBound(to: DecoderState.self)
      if _fastPath(!state.pointee.isActive) { return DecoderCore(state: state) }
    }
    let raw = pool.takeOther {
      let state = UnsafeMutablePointer<DecoderState>.allocate(capacity: 1)
      state.initialize(to: DecoderState())
      return UnsafeMutableRawPointer(state)
    }
    return DecoderCore(state: raw.assumingMemoryBound(to: DecoderState.self))
  }

  @inline(__always)
  func give() { Self.pool.give(UnsafeMutableRawPointer(state)) }

  func begin(
    _ bytes: UnsafeRawBufferPointer, _ userInfo: [CodingUserInfoKey: any Sendable],
    usesCBORCodable: Bool, depth: Int
  ) {
    let reader = CBORReader(bytes)
    state.pointee.start = reader.start
    state.pointee.end = reader.end
    state.pointee.lastEnd = -1
    state.pointee.epoch &+= 1
    state.pointee.isActive = true
    state.pointee.depth = depth
    state.pointee.stackLimit = nil
    state.pointee.reservable = 8 * bytes.count
    state.pointee.nodeCount = 1
    if _slowPath(!userInfo.isEmpty) { state.pointee.userInfo = userInfo }
    state.pointee.usesCBORCodable = usesCBORCodable
  }

  func end() {
    // Nothing of this epoch can be read from here on.
    state.pointee.epoch &+= 1
    state.pointee.isActive = false
    if _slowPath(!state.pointee.userInfo.isEmpty) { state.pointee.userInfo = [:] }
    state.pointee.containers.release(to: 0)
  }

  @inline(__always)
  func reader(at offset: Int) -> CBORReader {
    CBORReader(start: state.pointee.start, offset: offset, end: state.pointee.end)
  }

  /// The node of a place, made if need be.
  @inline(__always)
  func node(of place: Place) -> UInt32 {
    if place.step == PathNode.noStep { return place.node }
    let index = state.pointee.nodeCount
    if _slowPath(index == state.pointee.nodeCapacity) { growNodes() }
    state.pointee.nodes[index] = PathNode(parent: place.node, step: place.step, itemCount: 0)
    state.pointee.nodeCount = index &+ 1
    return UInt32(truncatingIfNeeded: index)
  }

  @inline(never)
  private func growNodes() {
    let capacity = state.pointee.nodeCapacity
    let larger = UnsafeMutablePointer<PathNode>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: state.pointee.nodes, count: capacity)
    (larger + capacity).initialize(
      repeating: PathNode(parent: 0, step: PathNode.noStep, itemCount: 0), count: capacity)
    state.pointee.nodes.deallocate()
    state.pointee.nodes = larger
    state.pointee.nodeCapacity = capacity * 2
  }

  /// Where an item ends.
  @inline(__always)
  func end(ofItemAt offset: Int) throws(CBORError) -> Int {
    let start = state.pointee.start
    return try CBORSkip.end(
      ofItemAt: start + offset, state.pointee.end, start, state.pointee.sizes) - start
  }

  /// How many elements to make room for: what a count says, as far as the bytes can bear it out.
  func reservation(_ count: Int, sizeBytes: Int) -> Int {
    let room = min(count, state.pointee.reservable / max(sizeBytes, 1))
    state.pointee.reservable -= room * sizeBytes
    return room
  }

  // MARK: Scalars

  @inline(__always)
  func integer<I: FixedWidthInteger>(_ type: I.Type, _ offset: Int, _ place: Place) throws -> I {
    guard _fastPath(offset < state.pointee.end - state.pointee.start) else {
      throw failure(CBORError(.unexpectedEnd, at: offset), place)
    }
    let byte = (state.pointee.start + offset).load(as: UInt8.self)
    if _fastPath(byte < 24) {
      state.pointee.lastEnd = offset &+ 1
      return I(truncatingIfNeeded: byte)
    }
    var reader = reader(at: offset)
    if _fastPath(byte < 0x40) {
      let argument: UInt64
      do {
        argument = try reader.readHead(byte &>> 5)
      } catch {
        throw failure(error, place)
      }
      state.pointee.lastEnd = reader.position
      if byte < 0x20 {
        if let value = I(exactly: argument) { return value }
      } else if I.isSigned, argument <= UInt64(bitPattern: Int64.max),
        let value = I(exactly: ~Int64(bitPattern: argument))
      {
        return value
      } else if I.isSigned, I.bitWidth > 64 {
        return ~I(truncatingIfNeeded: argument)
      }
      throw outOfRange("\(I.self)", offset, place)
    }
    return try otherInteger(type, offset, place)
  }

  @inline(__always)
  func bool(_ offset: Int, _ place: Place) throws -> Bool {
    var reader = reader(at: offset)
    do {
      let value = try reader.readBool()
      state.pointee.lastEnd = reader.position
      return value
    } catch {
      return try throughTag(Bool.self, offset, place, error) { try bool($0, $1) }
    }
  }

  @inline(__always)
  func string(_ offset: Int, _ place: Place) throws -> String {
    var reader = reader(at: offset)
    do {
      let value = try reader.readString()
      state.pointee.lastEnd = reader.position
      return value
    } catch {
      return try throughTag(String.self, offset, place, error) { try string($0, $1) }
    }
  }

  /// A float; an integer where a double holds it exactly.
  func double(_ offset: Int, _ place: Place) throws -> Double {
    var reader = reader(at: offset)
    do {
      let value = try reader.readDouble()
      state.pointee.lastEnd = reader.position
      return value
    } catch {
      guard error.code == .wrongType else { throw failure(error, place) }
      return try otherDouble(offset, place, error)
    }
  }

  func float(_ offset: Int, _ place: Place) throws -> Float {
    let value = try double(offset, place)
    let single = Float(value)
    guard single.isFinite || !value.isFinite else { throw outOfRange("Float", offset, place) }
    return single
  }

  /// Whether an item is null or undefined. False where there is none: reading it tells.
  @inline(__always)
  func isNull(_ offset: Int) -> Bool {
    guard offset < state.pointee.end - state.pointee.start else { return false }
    guard (state.pointee.start + offset).load(as: UInt8.self) & 0xfe == 0xf6 else { return false }
    state.pointee.lastEnd = offset &+ 1
    return true
  }
}

// What a coder remembers between calls: the keys of each key type as bytes, and how types are
// coded. It always holds: a table belongs to one pooled coder state, used by one thread at a time,
// and lives as long as the process; raw pointers into it never dangle.

/// A hash table from types to objects, direct-mapped in front, with a dictionary behind.
struct TypeTable {
  private struct Slot {
    var type: Int
    var object: Unmanaged<AnyObject>?
  }
  private let slots: UnsafeMutablePointer<Slot>
  private var all: [Int: AnyObject?] = [:]
  private static var slotCount: Int { 128 }

  init() {
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: Slot(type: 0, object: nil), count: Self.slotCount)
  }

  /// The object of a type; `make` is called for a type that wasn't met before.
  @inline(__always)
  mutating func object<T>(of type: T.Type, _ make: () -> AnyObject?) -> Unmanaged<AnyObject>? {
    let address = Int(bitPattern: ObjectIdentifier(type))
    let slot = slots + ((address &>> 4 ^ address &>> 11) & (Self.slotCount - 1))
    if _fastPath(slot.pointee.type == address) { return slot.pointee.object }
    return find(address, slot, make)
  }

  @inline(never)
  private mutating func find(
    _ address: Int, _ slot: UnsafeMutablePointer<Slot>, _ make: () -> AnyObject?
  ) -> Unmanaged<AnyObject>? {
    let object: AnyObject?
    if let known = all[address] {
      object = known
    } else {
      object = make()
      all[address] = .some(object)
    }
    let unmanaged = object.map { Unmanaged.passUnretained($0) }
    slot.pointee = Slot(type: address, object: unmanaged)
    return unmanaged
  }
}

/// A coding key as CBOR.
struct KeyBytes {
  /// Head and text, with 16 bytes of zeros behind.
  var bytes: UnsafeRawPointer
  var length: Int32
  /// Where in its map this key was found last.
  var position: Int32
  /// The first eight bytes as a big-endian number: orders like the bytes do.
  var prefix: UInt64
}

/// The keys of one `CodingKey` type, as far as they were met, and containers to be used again.
struct KeyTable {
  /// Whether a key is one byte or none, so that this byte can be the index of its text.
  let isSmall: Bool
  var keys: UnsafeMutablePointer<KeyBytes>
  var capacity: Int
  var free: Unmanaged<ContainerHolder>?
  /// For maps of one pair (enum cases): a key's bytes, and the array that `allKeys` returns.
  var singles: UnsafeMutablePointer<Single>
  var singleCount = 0

  struct Single {
    var bytes: UnsafeRawPointer
    var length: Int32
    var keys: Unmanaged<AnyObject>
  }
  static var singleLimit: Int { 64 }

  init(keySize: Int) {
    isSmall = keySize <= 1
    capacity = isSmall ? 16 : 0
    keys = .allocate(capacity: capacity)
    keys.initialize(repeating: Self.unknown, count: capacity)
    singles = .allocate(capacity: isSmall ? Self.singleLimit : 0)
  }

  private static var unknown: KeyBytes {
    KeyBytes(
      bytes: UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped, length: 0, position: 0, prefix: 0)
  }

  /// The bytes of a key of a small type.
  @inline(__always)
  mutating func bytes<K: CodingKey>(of key: borrowing K) -> UnsafeMutablePointer<KeyBytes> {
    let index = MemoryLayout<K>.size == 0 ? 0 : Int(unsafeBitCast(copy key, to: UInt8.self))
    if _slowPath(index >= capacity || keys[index].length == 0) { add(index, key.stringValue) }
    return keys + index
  }

  @inline(never)
  private mutating func add(_ index: Int, _ text: String) {
    if index >= capacity {
      let larger = min(256, max(capacity * 2, index + 1))
      let moved = UnsafeMutablePointer<KeyBytes>.allocate(capacity: larger)
      moved.moveInitialize(from: keys, count: capacity)
      (moved + capacity).initialize(repeating: Self.unknown, count: larger - capacity)
      keys.deallocate()
      (keys, capacity) = (moved, larger)
    }
    keys[index] = Self.make(text)
  }

  /// A key's bytes, never freed.
  static func make(_ text: String) -> KeyBytes {
    var text = text
    return text.withUTF8 { content in
      let room = content.count + 32
      let bytes = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 8)
      bytes.initializeMemory(as: UInt8.self, repeating: 0, count: room)
      let head = CBORWriter.storeHead(bytes, 3, UInt64(content.count))
      if let source = content.baseAddress {
        (bytes + head).copyMemory(from: source, byteCount: content.count)
      }
      let length = head + content.count
      return KeyBytes(
        bytes: UnsafeRawPointer(bytes), length: Int32(length), position: 0,
        prefix: keyPrefix(UnsafeRawPointer(bytes), length))
    }
  }
}

/// The first eight bytes of an item as a big-endian number, zeros behind a shorter one. Eight
/// bytes must be readable.
///
/// Items are prefix-free, so that two that differ within eight bytes differ here the same way.
@inline(__always)
func keyPrefix(_ item: UnsafeRawPointer, _ length: Int) -> UInt64 {
  let word = UInt64(bigEndian: item.loadUnaligned(as: UInt64.self))
  return length >= 8 ? word : word & ~(UInt64.max &>> UInt64(truncatingIfNeeded: length &* 8))
}

/// Holds one of the standard library's boxed containers, so that it can be used again.
///
/// Making such a box costs an allocation and a look-up of generic metadata. It is used again only
/// once nobody else holds it: see `ContainerPool`.
class ContainerHolder {
  final var next: Unmanaged<ContainerHolder>?
  final let keys: UnsafeMutablePointer<KeyTable>
  final let ticket: UnsafeMutableRawPointer
  /// The box itself, which the standard library's container is one reference to.
  final var box: Unmanaged<AnyObject>?
  /// Whether the ticket is a decoder's, with an index of unusual size.
  final var isLarge = false

  init(keys: UnsafeMutablePointer<KeyTable>, ticket: UnsafeMutableRawPointer) {
    self.keys = keys
    self.ticket = ticket
  }
}

/// The holder of one container, `KeyedEncodingContainer` or `KeyedDecodingContainer`.
final class HolderOf<Container>: ContainerHolder {
  let container: Container

  init(
    _ container: Container, keys: UnsafeMutablePointer<KeyTable>, ticket: UnsafeMutableRawPointer
  ) {
    self.container = container
    super.init(keys: keys, ticket: ticket)
    if MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size {
      box = withUnsafePointer(to: container) {
        UnsafeRawPointer($0).load(as: Unmanaged<AnyObject>.self)
      }
    }
  }

  /// Not inlined: here the class knows the container's metadata, a caller would look it up.
  @inline(never)
  func get() -> Container { container }
}

/// The containers that are in use, innermost last.
struct ContainerPool {
  private var used: UnsafeMutablePointer<Unmanaged<ContainerHolder>>
  private var capacity = 64
  private(set) var count = 0
  /// Containers that somebody kept longer than the value they were for.
  private var escaped: [ContainerHolder] = []
  private var sweepCount = 16

  init() { used = .allocate(capacity: capacity) }

  @inline(__always)
  subscript(index: Int) -> Unmanaged<ContainerHolder> { used[index] }

  @inline(__always)
  mutating func push(_ holder: Unmanaged<ContainerHolder>) {
    if _slowPath(count == capacity) { grow() }
    used[count] = holder
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Unmanaged<ContainerHolder>>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: used, count: count)
    used.deallocate()
    (used, capacity) = (larger, capacity * 2)
  }

  /// Takes back all containers from a mark on.
  @inline(__always)
  mutating func release(to mark: Int) {
    while count > mark {
      count &-= 1
      let holder = used[count]
      if _fastPath(Self.isUnshared(holder)) { Self.makeFree(holder) } else { keep(holder) }
    }
  }

  @inline(__always)
  private static func makeFree(_ holder: Unmanaged<ContainerHolder>) {
    holder._withUnsafeGuaranteedRef {
      if _slowPath($0.isLarge) {
        $0.isLarge = false
        $0.ticket.assumingMemoryBound(to: MapTicket.self).pointee.shrink()
      }
      $0.next = $0.keys.pointee.free
      $0.keys.pointee.free = holder
    }
  }

  /// Whether the holder has the only reference to its container.
  @inline(__always)
  private static func isUnshared(_ holder: Unmanaged<ContainerHolder>) -> Bool {
    holder._withUnsafeGuaranteedRef {
      guard var box = $0.box else { return false }
      return withUnsafeMutablePointer(to: &box) {
        UnsafeMutableRawPointer($0).withMemoryRebound(to: AnyObject.self, capacity: 1) {
          isKnownUniquelyReferenced(&$0.pointee)
        }
      }
    }
  }

  /// An escaped container stays usable (and its ticket alive) until nobody holds it.
  @inline(never)
  private mutating func keep(_ holder: Unmanaged<ContainerHolder>) {
    if escaped.count >= sweepCount {
      escaped.removeAll { old in
        let unmanaged = Unmanaged.passUnretained(old)
        guard Self.isUnshared(unmanaged) else { return false }
        Self.makeFree(unmanaged.retain())
        return true
      }
      sweepCount = max(16, 2 * escaped.count)
    }
    escaped.append(holder.takeRetainedValue())
  }
}

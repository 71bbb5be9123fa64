// How a command declares its arguments. With its two neighbours it stands in for Swift's
// ArgumentParser, which a build without other packages can't have, and is spelled like it, so that
// it can be swapped by deleting this folder.
// It always holds: a command's value is complete; what was not given has its default.

/// A type that one word of the command line can be.
package protocol ExpressibleByArgument: Sendable {
  init?(argument: String)
  /// The words that are accepted, where they are few.
  static var allValueStrings: [String] { get }
}

extension ExpressibleByArgument {
  package static var allValueStrings: [String] { [] }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
  package init?(argument: String) { self.init(argument) }
}

extension ExpressibleByArgument where Self: RawRepresentable<String> & CaseIterable {
  package init?(argument: String) { self.init(rawValue: argument) }
  package static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}
extension Double: ExpressibleByArgument {}

/// What a command is called, what it is for, and what stands below it.
package struct CommandConfiguration: Sendable {
  package var commandName: String
  package var abstract: String
  package var discussion: String
  package var version: String
  package var subcommands: [any ParsableCommand.Type]

  package init(
    commandName: String, abstract: String, discussion: String = "", version: String = "",
    subcommands: [any ParsableCommand.Type] = []
  ) {
    self.commandName = commandName
    self.abstract = abstract
    self.discussion = discussion
    self.version = version
    self.subcommands = subcommands
  }
}

/// Arguments that commands share, declared once.
package protocol ParsableArguments: Sendable {
  init()
  /// Checks what the single arguments can't: throws a ``ValidationError``.
  func validate() throws
}

extension ParsableArguments {
  package func validate() throws {}
}

/// A command: its arguments are the properties wrapped with ``Argument``, ``Option``, ``Flag``.
package protocol ParsableCommand: ParsableArguments {
  static var configuration: CommandConfiguration { get }
}

/// A mistake in what was asked for; the message completes the sentence after the command's name.
package struct ValidationError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// How an option is spelled.
package struct NameSpecification: Sendable, ExpressibleByArrayLiteral {
  private enum Element {
    case long, short
    case customLong(String)
    case customShort(Character)
  }
  private var elements: [Element]

  private init(elements: [Element]) { self.elements = elements }

  package init(arrayLiteral parts: NameSpecification...) { elements = parts.flatMap(\.elements) }

  package static let long = Self(elements: [.long])
  package static let short = Self(elements: [.short])
  package static let shortAndLong = Self(elements: [.short, .long])
  package static func customLong(_ name: String) -> Self { Self(elements: [.customLong(name)]) }
  package static func customShort(_ name: Character) -> Self {
    Self(elements: [.customShort(name)])
  }

  /// The names with their dashes, for a property: `skipInvalid` is `--skip-invalid`.
  func names(for property: String) -> [String] {
    elements.map { element in
      switch element {
      case .long: "--" + hyphenated(property)
      case .short: "-" + property.prefix(1)
      case .customLong(let name): "--" + name
      case .customShort(let name): "-\(name)"
      }
    }
  }
}

func hyphenated(_ property: String) -> String {
  property.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
}

/// What help says of an argument.
package struct ArgumentHelp: Sendable, ExpressibleByStringInterpolation {
  package var abstract: String
  package var valueName: String?

  package init(_ abstract: String, valueName: String? = nil) {
    self.abstract = abstract
    self.valueName = valueName
  }

  package init(stringLiteral abstract: String) { self.init(abstract) }
}

/// An argument as it was declared, for parsing, help and completion.
package struct ArgumentDeclaration: Sendable {
  package enum Kind: Sendable { case positional, option, flag }
  package var kind: Kind
  /// With their dashes; none for a positional argument.
  package var names: [String] = []
  package var valueName = ""
  package var help: ArgumentHelp
  package var allowedValues: [String] = []
  /// Whether it may be left out.
  package var isOptional = true
  /// Whether it collects several values.
  package var isRepeating = false
  package var defaultDescription: String?
  var spelling: NameSpecification = []
  var property = ""

  /// How messages call it.
  var label: String { kind == .positional ? valueName : names.last ?? valueName }

  /// Its value from one word.
  func convert<T: ExpressibleByArgument>(_ word: String, to type: T.Type) throws -> T {
    if let value = T(argument: word) { return value }
    let values =
      allowedValues.isEmpty ? "" : ": it is one of \(allowedValues.joined(separator: ", "))"
    throw ValidationError("\(quoted(word)) can't be \(label)\(values)")
  }

  /// Its value from one word, by a function whose errors say what is wrong with it.
  func convert<T>(_ word: String, _ transform: (String) throws -> T) throws -> T {
    do { return try transform(word) } catch {
      throw ValidationError("\(label): \(error)")
    }
  }
}

func quoted(_ word: String) -> String { "'\(word)'" }

/// Holds a declared argument's value from parsing on.
// Sendable because it is written only by the parser, which is done before anyone else sees it.
final class ArgumentBox<Value: Sendable>: @unchecked Sendable {
  var value: Value?
  init(_ value: Value?) { self.value = value }
}

/// What the parser sees of a wrapped property.
protocol DeclaredArgument {
  associatedtype Value: Sendable
  var storage: ArgumentStorage<Value> { get }
}

/// What all three wrappers are made of.
struct ArgumentStorage<Value: Sendable>: Sendable {
  typealias Parse = @Sendable ([String], ArgumentDeclaration) throws -> Value
  var declaration: ArgumentDeclaration
  let parse: Parse
  var box: ArgumentBox<Value>

  init(
    _ kind: ArgumentDeclaration.Kind, _ name: NameSpecification, _ help: ArgumentHelp?,
    initial: Value?, allowed: [String] = [], isRepeating: Bool = false, shown: String? = nil,
    parse: @escaping Parse
  ) {
    declaration = ArgumentDeclaration(kind: kind, help: help ?? "")
    declaration.spelling = name
    declaration.allowedValues = allowed
    declaration.isOptional = initial != nil
    declaration.isRepeating = isRepeating
    declaration.defaultDescription = shown
    self.parse = parse
    box = ArgumentBox(initial)
  }

  var value: Value {
    get {
      guard let value = box.value else {
        preconditionFailure("a required argument was read from a command that wasn't parsed")
      }
      return value
    }
    // A new box, so that a copy of the command keeps its own value.
    set { box = ArgumentBox(newValue) }
  }

  /// Sets the value from the words that were given, in order; never called without one.
  func set(_ words: [String], _ declaration: ArgumentDeclaration) throws {
    box.value = try parse(words, declaration)
  }
}

extension ArgumentStorage where Value: ExpressibleByArgument {
  init(
    single kind: ArgumentDeclaration.Kind, _ name: NameSpecification, _ help: ArgumentHelp?,
    initial: Value?
  ) {
    self.init(
      kind, name, help, initial: initial, allowed: Value.allValueStrings,
      shown: initial.map { "\($0)" }
    ) { try $1.convert($0[$0.count - 1], to: Value.self) }
  }
}

extension ArgumentStorage {
  init<T: ExpressibleByArgument>(
    optional kind: ArgumentDeclaration.Kind, _ name: NameSpecification, _ help: ArgumentHelp?
  ) where Value == T? {
    self.init(kind, name, help, initial: .some(nil), allowed: T.allValueStrings) {
      try $1.convert($0[$0.count - 1], to: T.self)
    }
  }

  init<T>(
    optional kind: ArgumentDeclaration.Kind, _ name: NameSpecification, _ help: ArgumentHelp?,
    transform: @escaping @Sendable (String) throws -> T
  ) where Value == T? {
    self.init(kind, name, help, initial: .some(nil)) {
      try $1.convert($0[$0.count - 1], transform)
    }
  }

  init<T: ExpressibleByArgument>(
    repeating kind: ArgumentDeclaration.Kind, _ name: NameSpecification, _ help: ArgumentHelp?,
    initial: [T]
  ) where Value == [T] {
    self.init(
      kind, name, help, initial: initial, allowed: T.allValueStrings, isRepeating: true
    ) { words, declaration in try words.map { try declaration.convert($0, to: T.self) } }
  }
}

/// A positional argument: `@Argument(help: "The store's directory.") var store: String`.
@propertyWrapper
package struct Argument<Value: Sendable>: Sendable {
  var storage: ArgumentStorage<Value>

  package var wrappedValue: Value {
    get { storage.value }
    set { storage.value = newValue }
  }

  package init(help: ArgumentHelp? = nil) where Value: ExpressibleByArgument {
    storage = ArgumentStorage(single: .positional, [], help, initial: nil)
  }

  package init(wrappedValue: Value, help: ArgumentHelp? = nil) where Value: ExpressibleByArgument {
    storage = ArgumentStorage(single: .positional, [], help, initial: wrappedValue)
  }

  package init<T: ExpressibleByArgument>(help: ArgumentHelp? = nil) where Value == T? {
    storage = ArgumentStorage(optional: .positional, [], help)
  }

  package init<T: ExpressibleByArgument>(wrappedValue: [T], help: ArgumentHelp? = nil)
  where Value == [T] {
    storage = ArgumentStorage(repeating: .positional, [], help, initial: wrappedValue)
  }

  package init(
    help: ArgumentHelp? = nil, transform: @escaping @Sendable (String) throws -> Value
  ) {
    storage = ArgumentStorage(.positional, [], help, initial: nil) {
      try $1.convert($0[$0.count - 1], transform)
    }
  }

  package init<T>(
    help: ArgumentHelp? = nil, transform: @escaping @Sendable (String) throws -> T
  ) where Value == T? {
    storage = ArgumentStorage(optional: .positional, [], help, transform: transform)
  }
}

/// An option with a value: `@Option(name: .shortAndLong, help: "…") var limit: Int?`.
///
/// Given twice, the last one counts, unless it collects into an array.
@propertyWrapper
package struct Option<Value: Sendable>: Sendable {
  var storage: ArgumentStorage<Value>

  package var wrappedValue: Value {
    get { storage.value }
    set { storage.value = newValue }
  }

  package init(name: NameSpecification = .long, help: ArgumentHelp? = nil)
  where Value: ExpressibleByArgument {
    storage = ArgumentStorage(single: .option, name, help, initial: nil)
  }

  package init(wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp? = nil)
  where Value: ExpressibleByArgument {
    storage = ArgumentStorage(single: .option, name, help, initial: wrappedValue)
  }

  package init<T: ExpressibleByArgument>(
    name: NameSpecification = .long, help: ArgumentHelp? = nil
  ) where Value == T? {
    storage = ArgumentStorage(optional: .option, name, help)
  }

  package init<T: ExpressibleByArgument>(
    wrappedValue: [T], name: NameSpecification = .long, help: ArgumentHelp? = nil
  ) where Value == [T] {
    storage = ArgumentStorage(repeating: .option, name, help, initial: wrappedValue)
  }

  package init<T>(
    name: NameSpecification = .long, help: ArgumentHelp? = nil,
    transform: @escaping @Sendable (String) throws -> T
  ) where Value == T? {
    storage = ArgumentStorage(optional: .option, name, help, transform: transform)
  }
}

/// A switch that is off unless it is given: `@Flag(help: "…") var reverse = false`.
@propertyWrapper
package struct Flag: Sendable {
  var storage: ArgumentStorage<Bool>

  package var wrappedValue: Bool {
    get { storage.value }
    set { storage.value = newValue }
  }

  package init(
    wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp? = nil
  ) {
    storage = ArgumentStorage(.flag, name, help, initial: wrappedValue) { _, _ in !wrappedValue }
  }
}

/// Arguments that are declared elsewhere: `@OptionGroup var output: OutputOptions`.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: Sendable {
  package var wrappedValue: Value

  package init() { wrappedValue = Value() }
}

extension Argument: DeclaredArgument {}
extension Option: DeclaredArgument {}
extension Flag: DeclaredArgument {}
/// What the parser sees of a group.
protocol ArgumentGroup {
  associatedtype Value: ParsableArguments
  var wrappedValue: Value { get }
}

extension OptionGroup: ArgumentGroup {}

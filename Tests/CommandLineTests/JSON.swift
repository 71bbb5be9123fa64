// Reads the tool's JSON with a reader that isn't the project's own.

import Foundation

/// A value of a JSON text.
struct JSON {
  private let value: Any?

  init(_ text: String) throws {
    value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  private init(value: Any?) { self.value = value }

  subscript(_ key: String) -> JSON { JSON(value: (value as? [String: Any])?[key]) }
  subscript(_ position: Int) -> JSON { JSON(value: (value as? [Any])?[position]) }

  var integer: Int? { value as? Int }
  var text: String? { value as? String }
  var count: Int? { (value as? [Any])?.count }
  var keys: Set<String>? { (value as? [String: Any]).map { Set($0.keys) } }
}

extension Outcome {
  init(status: Int32, text: String, error: String = "") {
    self.init(status: status, bytes: Array(text.utf8), error: error)
  }
}

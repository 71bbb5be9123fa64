// Knows whether code runs inside of a reducer, a validation or a transact closure.

/// Marks what a reducer, a validation or a `transact` closure runs, tasks started there included.
///
/// There, a dispatch would wait for the very thread that it runs on, or make a replay have effects.
package enum StoreScope {
  @TaskLocal package static var isInside = false

  /// - Throws: ``HindsightError`` with code `reentrantCall`.
  package static func checkOutside(_ operation: String) throws {
    guard isInside else { return }
    throw HindsightError(
      .reentrantCall,
      "\(operation) was called from inside of a reducer, a validation or a transact closure, or "
        + "from a task started there: call it from outside, when the event is through")
  }
}

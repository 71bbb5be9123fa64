// All kinds of fault, in the order in which they are tried.

/// The kinds of fault that the torture command knows.
package enum Faults {
  package static let all: [any Fault.Type] = [
    KillFault.self,
    PowerCutFault.self,
    SystemCallFault.self,
    DiskFullFault.self,
    ShutdownFault.self,
    DamageFault.self,
  ]
}

internal import SwiftIfConfig
internal import SwiftSyntax

/// The build settings of a ported target, to tell which `#if` branches are compiled.
struct LinuxConfiguration: BuildConfiguration {
  /// The replacements that the target depends on.
  let modules: Set<String>
  /// Modules of Apple's platforms in whose place the target names another.
  var replaced: Set<String> = []

  /// Debug code counts as compiled, so that both configurations report the same.
  func isCustomConditionSet(name: String) throws -> Bool { ["DEBUG", "SWIFT_PACKAGE"].contains(name) }
  func hasFeature(name: String) throws -> Bool { true }
  func hasAttribute(name: String) throws -> Bool { true }

  func canImport(importPath: [(TokenSyntax, String)], version: CanImportVersion) throws -> Bool {
    guard let name = importPath.first?.1 else { return false }
    // Without the replacement the condition stays as it is, and the compiler finds no such module.
    if ImportedModules.named.contains(name), let replacement = ImportedModules.replaced[name] {
      return modules.contains(replacement)
    }
    return replaced.contains(name) || ImportedModules.absent[name] == nil
  }

  func isActiveTargetOS(name: String) throws -> Bool { name == "Linux" }
  func isActiveTargetArchitecture(name: String) throws -> Bool {
    #if arch(arm64)
      name == "arm64"
    #else
      name == "x86_64"
    #endif
  }
  func isActiveTargetEnvironment(name: String) throws -> Bool { false }
  func isActiveTargetRuntime(name: String) throws -> Bool { name == "_Native" || name == "_multithreaded" }
  func isActiveTargetPointerAuthentication(name: String) throws -> Bool { name == "_none" }
  func isActiveTargetObjectFormat(name: String) throws -> Bool { name == "ELF" }
  var targetPointerBitWidth: Int { 64 }
  var targetAtomicBitWidths: [Int] { [8, 16, 32, 64, 128] }
  var endianness: Endianness { .little }
  var languageVersion: VersionTuple { VersionTuple(6) }
  var compilerVersion: VersionTuple { VersionTuple(6, 3) }
}

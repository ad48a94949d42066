internal import Foundation

/// The section of a manifest that declares the rewritten targets for Linux.
///
/// It stands behind the rest of the manifest, of which no byte changes.
struct ManifestSection {
  struct Target {
    var name: String
    var exclude: [String]
    var resources: [DescribedPackage.Resource]
    /// The products that the target depends on.
    var products: [Product]
  }

  struct Product {
    var name: String
    var package = "CoreDataEvolution"
  }

  static let start =
    "// Core Data for Linux. `coredata-sources adopt` writes this section; run it again when files come or go."
  static let end = "// The end of the section for Linux."

  /// The package on which the targets depend, as the manifest names it.
  var dependency: String
  /// A package with Combine's interface, as the manifest names it.
  var combine: String?
  var targets: [Target]
  /// The manifest's variable with the package.
  var variable: String

  var text: String {
    var lines = [Self.start, "#if os(Linux)", "  \(variable).dependencies.append(\(dependency))"]
    if let combine { lines.append("  \(variable).dependencies.append(\(combine))") }
    lines.append("  for target in \(variable).targets {")
    lines.append("    switch target.name {")
    for target in targets {
      lines.append("    case \(literal(target.name)):")
      lines.append(list("exclude", target.exclude.map(literal)))
      if !target.resources.isEmpty {
        lines.append(list("resources", target.resources.map(resource)))
      } else {
        lines.append("      target.resources = nil")
      }
      for product in target.products {
        lines.append(
          "      target.dependencies.append(.product(name: \(literal(product.name)), package: \(literal(product.package))))"
        )
      }
    }
    lines += [
      "    default: continue",
      "    }",
      "    target.path = \".\"",
      "    target.sources = [\"Linux/\\(target.name)\"]",
      "    target.plugins = (target.plugins ?? []) + [.plugin(name: \"CoreDataSources\", package: \"CoreDataEvolution\")]",
      "  }", "#endif", Self.end, "",
    ]
    return lines.joined(separator: "\n")
  }

  private func list(_ property: String, _ items: [String]) -> String {
    let start = "      target.\(property) = ["
    let short = start + items.joined(separator: ", ") + "]"
    if short.utf8.count <= 110 { return short }
    return start + "\n" + items.map { "        \($0),\n" }.joined() + "      ]"
  }

  private func resource(_ resource: DescribedPackage.Resource) -> String {
    let localization = resource.localization.map { ", localization: .\($0)" } ?? ""
    return ".\(resource.rule)(\(literal(resource.path))\(localization))"
  }

  private func literal(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  /// A manifest without the section.
  static func removed(from manifest: String) -> String {
    guard let from = manifest.range(of: start),
      let to = manifest.range(of: end, range: from.upperBound..<manifest.endIndex)
    else { return manifest }
    var rest = manifest[to.upperBound...]
    if rest.first == "\n" { rest = rest.dropFirst() }
    var before = manifest[..<from.lowerBound]
    // The empty line that separates the section from the rest.
    if before.hasSuffix("\n\n") { before = before.dropLast() }
    return String(before + rest)
  }

  /// The dependencies in a manifest that has a section, so that they stay when the section is written again: this package, and perhaps one with
  /// Combine's interface.
  static func dependencies(in manifest: String) -> [String] {
    guard let from = manifest.range(of: start) else { return [] }
    let call = ".dependencies.append("
    return manifest[from.upperBound...].split(separator: "\n").prefix { !$0.hasPrefix("  for ") }.compactMap {
      line in
      guard let range = line.range(of: call), line.hasSuffix(")") else { return nil }
      return String(line[range.upperBound...].dropLast())
    }
  }

  /// The manifest with the section behind it.
  func appended(to manifest: String) -> String {
    let separator = manifest.hasSuffix("\n") ? "\n" : "\n\n"
    return manifest + separator + text
  }

  /// The name of the manifest's variable that holds the package.
  static func variable(in manifest: String) -> String? {
    let pattern =
      /(?m)^\s*(?:public\s+)?(?:let|var)\s+(\w+)\s*(?::\s*(?:PackageDescription\.)?Package\s*)?=\s*(?:PackageDescription\.)?Package\s*\(/
    return manifest.firstMatch(of: pattern).map { String($0.1) }
  }
}

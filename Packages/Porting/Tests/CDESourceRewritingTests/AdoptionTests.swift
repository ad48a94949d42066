import CDESourceRewriting
import Foundation
import Testing

@Suite("Adopting a package")
struct AdoptionTests {
  /// A package on the disk, removed with the value.
  final class Package {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("adopting-\(UUID().uuidString)")

    init(_ files: [String: String]) throws {
      for (path, text) in files {
        let url = root.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
    }
    deinit { try? FileManager.default.removeItem(at: root) }

    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Adopts the package with what the package manager says about its manifest.
    func adopt(
      _ targets: String, version: String = "5.9.0", leaveOut: [String] = [], traits: String = "",
      combine: String? = nil
    ) throws -> Adoption {
      let dump = """
        {"name": "Trips", "toolsVersion": {"_version": "\(version)"}, "targets": [\(targets)]}
        """
      let text = try text("Package.swift")
      return try Adoption(
        root: root, manifest: .init(path: "Package.swift", text: Adoption.withoutSection(text)),
        package: DescribedPackage(dump: Data(dump.utf8)),
        options: .init(
          dependency: ".package(url: \"https://example.org/x\", from: \"1.0.0\"\(traits))",
          leaveOut: leaveOut, combine: combine),
        earlier: text)
    }
  }

  private let manifest = """
    // swift-tools-version: 5.9
    import PackageDescription
    let package = Package(name: "Trips", targets: [.target(name: "Model")])

    """
  private let model =
    #"{"name": "Model", "type": "regular", "dependencies": [], "exclude": [], "resources": []}"#
  private let tests =
    #"{"name": "ModelTests", "type": "test", "dependencies": [{"byName": ["Model", null]}], "exclude": [], "resources": []}"#

  private func sources(_ more: [String: String] = [:]) -> [String: String] {
    [
      "Package.swift": manifest, "README.md": "", "Sources/Model/Trip.swift": "import CoreData\n",
      "Tests/ModelTests/TripTests.swift": "import XCTest\n@testable import Model\n",
    ].merging(more) { _, new in new }
  }

  @Test("a manifest keeps each byte, and a section behind it declares the target and what depends on it")
  func section() throws {
    let package = try Package(sources())
    let adoption = try package.adopt("\(model), \(tests)")
    #expect(adoption.targets == ["Model", "ModelTests"])
    try adoption.write()
    let written = try package.text("Package.swift")
    #expect(written.hasPrefix(manifest))
    #expect(
      written.contains(
        "package.dependencies.append(.package(url: \"https://example.org/x\", from: \"1.0.0\"))"))
    #expect(
      written.contains(
        "case \"Model\":\n      target.exclude = [\"Linux/ModelTests\", \"README.md\", \"Sources\", \"Tests\"]"
      ))
    #expect(written.contains(".product(name: \"CDEXCTestPorting\", package: \"CoreDataEvolution\")"))
    #expect(
      try package.text("Linux/Model/Linux.swift")
        == "// The sources of this module are those of Sources/Model.\n")
  }

  @Test("a second adoption writes nothing, and one without a dependency keeps the first one's")
  func idempotence() throws {
    let package = try Package(sources())
    try package.adopt("\(model), \(tests)").write()
    #expect(try package.adopt("\(model), \(tests)").changedOutputs().isEmpty)
    let text = try package.text("Package.swift")
    let again = try Adoption(
      root: package.root, manifest: .init(path: "Package.swift", text: Adoption.withoutSection(text)),
      package: DescribedPackage(dump: Data(#"{"name": "T", "targets": [\#(model), \#(tests)]}"#.utf8)),
      options: .init(dependency: nil), earlier: text)
    #expect(again.outputs.last?.text.contains("https://example.org/x") == true)
    #expect(Adoption.withoutSection(text) == manifest)
  }

  @Test(
    "a source that imports what Linux lacks is left out and named with its line, also by a second adoption")
  func leftOut() throws {
    let package = try Package(
      sources(["Sources/Model/Screens/List.swift": "import CoreData\nimport SwiftUI\nstruct List {}\n"]))
    for _ in 0..<2 {
      let adoption = try package.adopt(model)
      #expect(adoption.leftOut.map(\.path) == ["Sources/Model/Screens/List.swift"])
      #expect(adoption.leftOut.first?.line == 2)
      #expect(adoption.leftOut.first?.declarations == ["List"])
      try adoption.write()
      #expect(try package.text("Linux/Model/CoreDataSources.json").contains("\"Screens/List.swift\""))
    }
    #expect(try package.text("Package.swift").contains("\"Linux/Model/CoreDataSources.json\""))
  }

  @Test("an import inside a condition leaves nothing out")
  func conditionalImport() throws {
    let package = try Package(
      sources(["Sources/Model/Trip.swift": "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n"]))
    #expect(try package.adopt(model).leftOut.isEmpty)
  }

  @Test("a target elsewhere gets settings with its folder, its excluded files and its isolation")
  func settings() throws {
    let package = try Package([
      "Package.swift": manifest, "Trips/Model/Trip.swift": "import CoreData\n", "Trips/Model/Old/A.swift": "",
      "Trips/Screens/B.swift": "",
    ])
    let target = #"""
      {"name": "Model", "type": "regular", "path": "trips", "sources": ["Model"], "exclude": ["Model/Old"],
       "dependencies": [], "resources": [],
       "settings": [{"tool": "swift", "kind": {"defaultIsolation": {"_0": "MainActor"}}}]}
      """#
    try package.adopt(target).write()
    let settings = try package.text("Linux/Model/CoreDataSources.json")
    #expect(settings.contains("\"sources\": \"Trips/Model\""))
    #expect(settings.contains("\"Old\""))
    #expect(settings.contains("\"isolation\": \"MainActor\""))
  }

  @Test(
    "resources keep their rule under the name on the disk; models and catalogues of assets do not belong to them"
  )
  func resources() throws {
    let package = try Package(
      sources([
        "Sources/Model/Resources/de.lproj/Localizable.strings": "",
        "Sources/Model/Resources/A.xcassets/Contents.json": "{}",
        "Sources/Model/Trips.xcdatamodeld/Trips.xcdatamodel/contents": "<model/>",
        "Sources/Model/Data/a/b.json": "{}",
      ]))
    let target = #"""
      {"name": "Model", "type": "regular", "dependencies": [], "exclude": [], "resources": [
       {"path": "resources", "rule": {"process": {}}}, {"path": "Data", "rule": {"copy": {}}},
       {"path": "Trips.xcdatamodeld", "rule": {"process": {}}}, {"path": "Gone", "rule": {"process": {}}}]}
      """#
    try package.adopt(target).write()
    let written = try package.text("Package.swift")
    #expect(
      written.contains(
        "target.resources = [.process(\"Sources/Model/Resources\"), .copy(\"Sources/Model/Data\")]"))
    #expect(written.contains("\"Sources/Model/Resources/A.xcassets\""))
    #expect(written.contains("\"Sources/Model/Trips.xcdatamodeld\""))
  }

  @Test("a manifest for tools without plug-ins stays, and Swift 6 gets one of its own")
  func oldTools() throws {
    let old = manifest.replacing("tools-version: 5.9", with: "tools-version:5.3")
    let package = try Package(sources(["Package.swift": old]))
    try package.adopt(model, version: "5.3.0").write()
    #expect(try package.text("Package.swift") == old)
    #expect(
      try package.text("Package@swift-6.swift").hasPrefix(
        "// swift-tools-version:5.9\nimport PackageDescription\n"))
  }

  @Test("Combine is mapped where a target depends on a module with its interface")
  func combine() throws {
    let package = try Package(sources(["Sources/Model/Trip.swift": "import Combine\nimport CoreData\n"]))
    let target = model.replacing(
      "\"dependencies\": []",
      with: #""dependencies": [{"product": ["OpenCombine", "OpenCombine", null, null]}]"#)
    let adoption = try package.adopt(target)
    #expect(adoption.leftOut.isEmpty)
    try adoption.write()
    #expect(
      try package.text("Linux/Model/CoreDataSources.json").contains(#""modules": {"Combine": "OpenCombine"}"#)
    )
  }

  @Test("sources that import Combine are taken where the caller names a package with its interface")
  func combinePackage() throws {
    let package = try Package(
      sources([
        "Sources/Model/Trip.swift": "import Combine\nimport CoreData\n",
        "Sources/Streams/A.swift": "import Combine\n",
        "Sources/Plain/A.swift": "import Foundation\n",
      ]))
    let targets = [
      model, tests, model.replacing("\"Model\"", with: "\"Streams\""),
      model.replacing("\"Model\"", with: "\"Plain\""),
    ].joined(separator: ", ")
    let adoption = try package.adopt(targets, combine: "https://example.org/OpenCombine.git")
    #expect(adoption.leftOut.isEmpty)
    #expect(adoption.targets == ["Model", "ModelTests", "Streams"])
    try adoption.write()
    let manifest = try package.text("Package.swift")
    #expect(
      manifest.contains(#".append(.package(url: "https://example.org/OpenCombine.git", from: "0.14.0"))"#))
    let product = #".append(.product(name: "OpenCombineFoundation", package: "OpenCombine"))"#
    #expect(manifest.components(separatedBy: product).count == 3)
    #expect(
      try package.text("Linux/Streams/CoreDataSources.json").contains(
        #"{"Combine": "OpenCombine, OpenCombineFoundation, OpenCombineDispatch"}"#))
    // A second adoption keeps the package.
    #expect(try package.adopt(targets).changedOutputs().isEmpty)
  }

  @Test("a library of test cases gets what XCTest lacks, too")
  func testSupport() throws {
    let package = try Package(sources(["Sources/Support/Case.swift": "import CoreData\nimport XCTest\n"]))
    try package.adopt("\(model), \(model.replacing("\"Model\"", with: "\"Support\""))").write()
    #expect(
      try package.text("Package.swift").components(separatedBy: "\"CDEXCTestPorting\"").count == 2)
  }

  @Test("a trait needs a manifest that can name it")
  func traits() throws {
    let package = try Package(sources())
    #expect(throws: AdoptionError.self) {
      try package.adopt(model, traits: ", traits: [.trait(name: \"X\")]")
    }
    #expect(throws: Never.self) {
      try package.adopt(model, version: "6.1.0", traits: ", traits: [.trait(name: \"X\")]")
    }
  }

  @Test("problems are errors with a code and a remedy")
  func problems() throws {
    func code(_ body: () throws -> Void) -> AdoptionError.Code? {
      do { try body() } catch { return (error as? AdoptionError)?.code }
      return nil
    }
    let package = try Package(sources(["Package.swift": "let it = makePackage()\n"]))
    #expect(code { _ = try package.adopt(model) } == .noPackageVariable)
    #expect(code { _ = try DescribedPackage(dump: Data("no JSON".utf8)) } == .unreadableManifest)
    let plain = try Package(sources(["Sources/Model/Trip.swift": "import Foundation\n"]))
    #expect(code { _ = try plain.adopt(model) } == .nothingToAdopt)
    let elsewhere = try Package(sources())
    #expect(code { _ = try elsewhere.adopt(model.replacing("Model", with: "Other")) } == .noTargetFolder)
    let broken = try Package(sources(["Linux/Model/CoreDataSources.json": "["]))
    #expect(code { _ = try broken.adopt(model) } == .unreadableSettings)
  }

  @Test("a folder without a manifest gets one: folders are targets, and imports are dependencies")
  func withoutManifest() throws {
    let package = try Package([
      "Trips.xcodeproj/project.pbxproj": "SWIFT_VERSION = 6.0;", "Trips/Trip.swift": "import CoreData\n",
      "Trips/Trips.xcdatamodeld/Trips.xcdatamodel/contents": "<model/>",
      "TripsTests/TripTests.swift": "import XCTest\n@testable import Trips\n", "TripsUITests/A.swift": "",
    ])
    let (described, text) = try DescribedPackage.describing(folder: package.root)
    #expect(text.contains(".library(name: \"Trips\", targets: [\"Trips\"])"))
    #expect(text.contains("swiftLanguageModes: [.v6]"))
    #expect(!text.contains("UITests"))
    let adoption = try Adoption(
      root: package.root, manifest: .init(path: "Package.swift", text: text), package: described,
      options: .init(dependency: ".package(path: \"..\")"))
    #expect(adoption.targets == ["Trips", "TripsTests"])
    #expect(throws: AdoptionError.self) {
      try DescribedPackage.describing(folder: package.root.appendingPathComponent("Trips.xcodeproj"))
    }
  }

  @Test("what is left after a build has its place and a remedy, each once")
  func remedies() throws {
    let package = try Package(
      sources(["Sources/Model/List.swift": "import SwiftUI\nstruct List {}\n"]))
    let adoption = try package.adopt(model)
    let output = """
      /p/A.swift:3:7: error: cannot find type 'List' in scope
      /p/A.swift:3:7: error: cannot find type 'List' in scope
      /p/B.swift:1:8: error: no such module 'Charts'
      error: emit-module command failed with exit code 1
      """
    let problems = BuildRemedies(output: output, leftOut: adoption.leftOut).problems
    #expect(problems.map(\.place) == ["/p/A.swift:3:7", "/p/B.swift:1:8"])
    #expect(
      problems.first?.remedy.hasPrefix("Sources/Model/List.swift declares List and is left out") == true)
    #expect(problems.last?.remedy.contains("#if canImport(Charts)") == true)
  }
}

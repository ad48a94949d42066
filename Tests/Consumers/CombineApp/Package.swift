// swift-tools-version: 6.2
import PackageDescription

#if os(Linux)
  // Not by URL as the packages beside it: it shares the build of the root's tests, with its trait.
  let packages: [Package.Dependency] = [
    .package(
      name: "CoreDataEvolution", path: Context.environment["CDE_FOLDER"] ?? "../../..",
      traits: Set(Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? [])),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ]
  let combine: [Target.Dependency] = [
    .product(name: "OpenCombine", package: "OpenCombine"),
    .product(name: "OpenCombineFoundation", package: "OpenCombine"),
    .product(name: "CDECoreData", package: "CoreDataEvolution"),
  ]
  let library = Target.target(
    name: "Library", dependencies: combine, path: ".",
    exclude: ["Sources", "Tests", "Linux/LibraryTests", "Linux/Library/CoreDataSources.json"],
    sources: ["Linux/Library"], plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
  let tests = Target.testTarget(
    name: "LibraryTests", dependencies: ["Library"] + combine, path: ".",
    exclude: ["Sources", "Tests", "Linux/Library", "Linux/LibraryTests/CoreDataSources.json"],
    sources: ["Linux/LibraryTests"], plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")]
  )
#else
  let packages: [Package.Dependency] = []
  let library = Target.target(name: "Library", resources: [.process("Library.xcdatamodeld")])
  let tests = Target.testTarget(name: "LibraryTests", dependencies: ["Library"])
#endif

let package = Package(
  name: "CombineApp",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "Library", targets: ["Library"])],
  dependencies: packages,
  targets: [library, tests],
  swiftLanguageModes: [.v5]
)

// swift-tools-version: 6.0
import PackageDescription

#if os(Linux)
  let evolution: [Package.Dependency] = [
    .package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0")
  ]
  let model = Target.target(
    name: "Model",
    dependencies: [.product(name: "CDECoreData", package: "CoreDataEvolution")],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/ModelTests"],
    sources: ["Linux/Model"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
  let tests = Target.testTarget(
    name: "ModelTests",
    dependencies: ["Model"],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/Model"],
    sources: ["Linux/ModelTests"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
#else
  let evolution: [Package.Dependency] = []
  let model = Target.target(name: "Model", resources: [.process("Trips.xcdatamodeld")])
  let tests = Target.testTarget(name: "ModelTests", dependencies: ["Model"])
#endif

let package = Package(
  name: "PortedApp",
  platforms: [.macOS(.v12), .iOS(.v15)],
  products: [.library(name: "Model", targets: ["Model"])],
  dependencies: evolution,
  targets: [model, tests],
  swiftLanguageModes: [.v5]
)

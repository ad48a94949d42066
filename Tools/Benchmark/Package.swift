// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the project's packages have no dependencies, and the opponents are one.
let package = Package(
  name: "Benchmark",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "benchmark", targets: ["Benchmark"])],
  dependencies: [
    .package(name: "CoreDataEvolution", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "SystemSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .executableTarget(
      name: "Benchmark",
      dependencies: [
        "SystemSQLite",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    // Tests see what is declared "package": importable for tests, the program would be built twice.
    .testTarget(name: "BenchmarkTests", dependencies: ["Benchmark"]),
  ],
  swiftLanguageModes: [.v6]
)

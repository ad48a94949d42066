// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the project's packages have no dependencies, and the opponents are one.
let package = Package(
  name: "Benchmark",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "benchmark", targets: ["Benchmark"])],
  traits: [
    .trait(name: "PostgreSQL", description: "Rows over a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "SystemSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "SystemLibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .executableTarget(
      name: "Benchmark",
      dependencies: [
        "SystemSQLite",
        .target(name: "SystemLibPQ", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDESwiftData", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(
          name: "CDEPostgreSQLStore", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    // Tests see what is declared "package": importable for tests, the program would be built twice.
    .testTarget(name: "BenchmarkTests", dependencies: ["Benchmark"]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

// The command `cde`, a package of its own: the project's packages have no dependencies, and this one has argument-parser.
let package = Package(
  name: "cde",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "cde", targets: ["cde"]),
    .library(name: "CDEToolKit", targets: ["CDEToolKit"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "Stores on a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .systemLibrary(
      name: "SystemSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .target(
      name: "CDEToolKit",
      dependencies: [
        "SystemSQLite",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEPredicates", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(
          name: "CDEPostgreSQLStore", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
      ]),
    .executableTarget(
      name: "cde",
      dependencies: [
        "CDEToolKit",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .testTarget(
      name: "CDEToolKitTests",
      dependencies: [
        "CDEToolKit", "SystemSQLite", "cde",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
        .product(name: "CDESwiftData", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

import PackageModel

extension Package: Resource {
  static let entityName = "Package"
  static let path = "packages"
  static let keyName = "name"
  static let fields: [Field<Package>] = [
    .key(\.name, "name"),
    .members("versions") { $0.versions },
    .members("providers") { $0.providers },
  ]
  var resourceKey: String { name }

  /// The keys of versions begin with the package's name.
  func willSaveRequest() {
    guard !isInserted, changedValues()["name"] != nil else { return }
    for version in versions { version.willSaveRequest() }
  }
}

extension Version: Resource {
  static let entityName = "Version"
  static let path = "versions"
  static let keyName = "key"
  static let fields: [Field<Version>] = [
    .text(\.key, "key", isSettable: false),
    .reference("package", isRequired: true) { $0.package },
    .key(\.number, "number"),
    .key(\.architecture, "architecture"),
    .text(\.summary, "summary"),
    .integer(\.installedSize, "installedSize"),
    .flag(\.isInstalled, "isInstalled"),
    .reference("section") { $0.section },
    .reference("maintainer") { $0.maintainer },
    .references("dependencies") {
      $0.dependencies
    } change: { version, added, removed in
      version.addToDependencies(added)
      version.removeFromDependencies(removed)
    },
    .references("provides") {
      $0.provides
    } change: { version, added, removed in
      version.addToProvides(added)
      version.removeFromProvides(removed)
    },
  ]
  var resourceKey: String { key }

  /// The key follows its parts. The demo's next run finds the record changed, and writes what the record says.
  func willSaveRequest() {
    let key = "\(package?.name ?? "") \(number) \(architecture)"
    if self.key != key { self.key = key }
    if digest != 0 { digest = 0 }
  }
}

extension Section: Resource {
  static let entityName = "Section"
  static let path = "sections"
  static let keyName = "name"
  static let fields: [Field<Section>] = [.key(\.name, "name", allowsBlanks: true)]
  var resourceKey: String { name }
}

extension Maintainer: Resource {
  static let entityName = "Maintainer"
  static let path = "maintainers"
  static let keyName = "name"
  static let fields: [Field<Maintainer>] = [.key(\.name, "name", allowsBlanks: true)]
  var resourceKey: String { name }
}

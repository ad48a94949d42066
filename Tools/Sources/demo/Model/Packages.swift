import CoreDataEvolution

/// A name that can be installed or depended upon: of packages, and of virtual packages that others provide.
@PersistentModel
final class Package: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  /// The package's versions; none when the name is virtual or only ever mentioned.
  @Relationship(inverse: "package", deleteRule: .cascade)
  var versions: Set<Version>

  /// Versions of other packages that stand in for this name.
  @Relationship(inverse: "provides", deleteRule: .nullify)
  var providers: Set<Version>

  /// Versions that need this name, on their own or as one of several alternatives.
  @Relationship(inverse: "dependencies", deleteRule: .nullify)
  var dependents: Set<Version>
}

/// One version of a package for one architecture, as one record describes it.
@PersistentModel
final class Version: NSManagedObject {
  /// Package, version and architecture, with a space between: what makes a record the same one next time.
  @Attribute(.unique)
  var key: String = ""
  var number: String = ""
  var architecture: String = ""
  var summary: String = ""
  /// What the package says it takes when installed, in KiB.
  var installedSize: Int = 0
  var isInstalled: Bool = false
  /// Tells, at the next run, whether the record has changed.
  var digest: Int = 0

  @Relationship(inverse: "versions", deleteRule: .nullify)
  var package: Package?

  @Relationship(inverse: "versions", deleteRule: .nullify)
  var section: Section?

  @Relationship(inverse: "versions", deleteRule: .nullify)
  var maintainer: Maintainer?

  /// What has to be there before or with this version (`Depends` and `Pre-Depends`).
  @Relationship(inverse: "dependents", deleteRule: .nullify)
  var dependencies: Set<Package>

  /// The names it stands in for (`Provides`).
  @Relationship(inverse: "providers", deleteRule: .nullify)
  var provides: Set<Package>
}

/// A shelf of the archive, such as `libs` or `contrib/net`.
@PersistentModel
final class Section: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  @Relationship(inverse: "section", deleteRule: .nullify)
  var versions: Set<Version>
}

/// Who looks after packages, as their records put it: `Name <address>`.
@PersistentModel
final class Maintainer: NSManagedObject {
  @Attribute(.unique)
  var name: String = ""

  @Relationship(inverse: "maintainer", deleteRule: .nullify)
  var versions: Set<Version>
}

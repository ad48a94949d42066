import CoreDataEvolution

/// A name that can be installed or depended upon: of packages, and of virtual packages that others provide.
@PersistentModel
public final class Package: NSManagedObject {
  @Attribute(.unique, .length(1...))
  public var name: String

  /// The package's versions; none when the name is virtual or only ever mentioned.
  @Relationship(inverse: "package", deleteRule: .cascade)
  public var versions: Set<Version>

  /// Versions of other packages that stand in for this name.
  @Relationship(inverse: "provides", deleteRule: .nullify)
  public var providers: Set<Version>

  /// Versions that need this name, on their own or as one of several alternatives.
  @Relationship(inverse: "dependencies", deleteRule: .nullify)
  public var dependents: Set<Version>
}

/// One version of a package for one architecture, as one record describes it.
@PersistentModel
public final class Version: NSManagedObject {
  /// Package, version and architecture, with a space between: what makes a record the same one next time.
  @Attribute(.unique)
  public var key: String = ""
  public var number: String = ""
  public var architecture: String = ""
  public var summary: String = ""
  /// What the package says it takes when installed, in KiB.
  @Attribute(.range(0...))
  public var installedSize: Int = 0
  public var isInstalled: Bool = false
  /// Tells, at the next run, whether the record has changed.
  public var digest: Int = 0

  @Relationship(inverse: "versions", deleteRule: .nullify)
  public var package: Package?

  @Relationship(inverse: "versions", deleteRule: .nullify)
  public var section: Section?

  @Relationship(inverse: "versions", deleteRule: .nullify)
  public var maintainer: Maintainer?

  /// What has to be there before or with this version (`Depends` and `Pre-Depends`).
  @Relationship(inverse: "dependents", deleteRule: .nullify)
  public var dependencies: Set<Package>

  /// The names it stands in for (`Provides`).
  @Relationship(inverse: "providers", deleteRule: .nullify)
  public var provides: Set<Package>
}

/// A shelf of the archive, such as `libs` or `contrib/net`.
@PersistentModel
public final class Section: NSManagedObject {
  @Attribute(.unique)
  public var name: String = ""

  @Relationship(inverse: "section", deleteRule: .nullify)
  public var versions: Set<Version>
}

/// Who looks after packages, as their records put it: `Name <address>`.
@PersistentModel
public final class Maintainer: NSManagedObject {
  @Attribute(.unique)
  public var name: String = ""

  @Relationship(inverse: "maintainer", deleteRule: .nullify)
  public var versions: Set<Version>
}

/// The sources of the classes that a developer writes.
struct Classes {
  let model: Model
  private var random: Random

  init(_ model: Model, seed: UInt64) {
    self.model = model
    random = Random(seed: seed ^ 0xc1a5)
  }

  /// The sources by path.
  mutating func files() -> [(path: String, text: String)] {
    var files: [(String, String)] = []
    var shared = ""
    for (index, entity) in model.entities.enumerated() {
      switch entity.generation {
      case .definition: continue
      case .category:
        files.append(
          ("\(entity.className).swift", head + declaration(of: entity, body: "\n") + extras(of: entity)))
      case .manual:
        let folder = entity.parent == nil ? "Entities" : "Entities/Derived"
        switch index % 4 {
        case 0, 1:
          files.append(
            (
              "\(folder)/\(entity.className)+CoreDataClass.swift",
              head + declaration(of: entity, body: "\n\(computed(entity))\n") + extras(of: entity)
            ))
          files.append(
            (
              "\(folder)/\(entity.className)+CoreDataProperties.swift",
              head + "extension \(entity.swiftName) {\n\n\(request(entity))\n\(properties(of: entity))\n}\n\n"
                + accessors(of: entity)
            ))
        case 2:
          files.append(
            (
              "\(folder)/\(entity.className).swift",
              head
                + declaration(
                  of: entity, body: "\n\(properties(of: entity))\n\(computed(entity))\n\(request(entity))\n")
                + accessors(of: entity) + extras(of: entity)
            ))
        default:
          // Several classes in one file.
          shared +=
            declaration(of: entity, body: "\(computed(entity))\n\(properties(of: entity))\n")
            + "extension \(entity.swiftName) {\n\(request(entity))}\n\n" + accessors(of: entity)
        }
      }
    }
    files.append(("MoreEntities.swift", head + shared))
    return files
  }

  private var head: String { "import CoreData\nimport Foundation\n\n" }

  // MARK: Declarations

  private mutating func declaration(of entity: Entity, body: String) -> String {
    let parent = entity.parent.map { model.entities[$0].swiftName } ?? "NSManagedObject"
    let name = entity.className
    let word = "public class \(name): \(parent)"
    var text: String
    if entity.form != .plain {
      // Found by module and name; an Objective-C name would hide it.
      text = "\(word) {\(body)}"
    } else {
      switch random.below(4) {
      case 0: text = "@objc(\(name)) \(word) {\(body)}"
      case 1: text = "@objc(\(name))\n@objcMembers\n\(word) {\(body)}"
      case 2:
        text =
          "/// An object of the entity \(entity.name).\n@objc(\(name))  // known to the model\n\(word)\n{\(body)}"
      default: text = "@objc(\(name))\n\(word) {\(body)}"
      }
    }
    if entity.isNested { text = "extension Namespace {\n\(text)\n}" }
    return text + "\n\n"
  }

  private func request(_ entity: Entity) -> String {
    """
      @nonobjc public class func fetchRequest() -> NSFetchRequest<\(entity.swiftName)> {
        return NSFetchRequest<\(entity.swiftName)>(entityName: "\(entity.name)")
      }

    """
  }

  private mutating func properties(of entity: Entity) -> String {
    let types = PropertyTypes(model: model, entity: entity)
    var lines: [String] = []
    for attribute in entity.attributes where attribute.kind != .level {
      let name = PropertyTypes.declared(attribute.name)
      let type = types.type(of: attribute)
      switch random.below(6) {
      case 0: lines += ["  @NSManaged", "  public var \(name): \(type)"]
      case 1: lines.append("  @NSManaged public var \(name) : \(type)  // \(attribute.kind.xml)")
      case 2: lines.append("  @objc @NSManaged open var \(name): \(type)".replacing("open", with: "public"))
      case 3: lines.append("  @NSManaged public var \(name): \(type);")
      default: lines.append("  @NSManaged public var \(name): \(type)")
      }
    }
    for relationship in entity.relationships {
      lines.append("  @NSManaged public var \(relationship.name): \(types.type(of: relationship))")
    }
    switch entity.special {
    case .derived: lines.append("  @NSManaged public private(set) var searchKey: String?")
    case .composite: lines.append("  @NSManaged public var place: [String: Any]?")
    case nil: break
    }
    // Two names in one declaration.
    if entity.name.count % 3 == 0 {
      lines.append("  @NSManaged private var primitiveFirst: NSNumber?, primitiveSecond: NSNumber?")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Computed properties over stored raw values.
  private func computed(_ entity: Entity) -> String {
    var text = ""
    for attribute in entity.attributes {
      let capital = PropertyTypes.capitalised(attribute.name)
      if attribute.kind == .level {
        text += """
            @NSManaged private var primitive\(capital): NSNumber?
            @objc public var \(attribute.name): EntityLevel {
              get {
                willAccessValue(forKey: #keyPath(\(attribute.name)))
                defer { didAccessValue(forKey: #keyPath(\(attribute.name))) }
                return EntityLevel(rawValue: primitive\(capital)?.int16Value ?? 0) ?? .low
              }
              set {
                willChangeValue(forKey: #keyPath(\(entity.swiftName).\(attribute.name)))
                primitive\(capital) = NSNumber(value: newValue.rawValue)
                didChangeValue(forKey: #keyPath(\(entity.swiftName).\(attribute.name)))
              }
            }

          """
      }
      if attribute.kind == .mode {
        text += """
            public var \(attribute.name)Choice: EntityMode {
              get { return EntityMode(rawValue: \(attribute.name)) ?? .automatic }
              set { \(attribute.name) = newValue.rawValue }
            }

          """
      }
    }
    return text
  }

  // MARK: Accessors

  /// What Xcode generates for to-many relationships.
  private func accessors(of entity: Entity) -> String {
    var text = ""
    for relationship in entity.relationships where relationship.form != .toOne {
      let capital = PropertyTypes.capitalised(relationship.name)
      let type = model.entities[relationship.destination].swiftName
      let isTyped = PropertyTypes(model: model, entity: entity).type(of: relationship).hasPrefix("Set<")
      let set = relationship.form == .ordered ? "NSOrderedSet" : isTyped ? "Set<\(type)>" : "NSSet"
      text += "// MARK: Generated accessors for \(relationship.name)\nextension \(entity.swiftName) {\n"
      if relationship.form == .ordered {
        text += """
            @objc(insertObject:in\(capital)AtIndex:)
            @NSManaged public func insertInto\(capital)(_ value: \(type), at idx: Int)
            @objc(removeObjectFrom\(capital)AtIndex:)
            @NSManaged public func removeFrom\(capital)(at idx: Int)
            @objc(replace\(capital)AtIndexes:with\(capital):)
            @NSManaged public func replace\(capital)(at indexes: NSIndexSet, with values: [\(type)])

          """
      }
      text += """
          @objc(add\(capital)Object:)
          @NSManaged public func addTo\(capital)(_ value: \(type))
          @objc(remove\(capital)Object:)
          @NSManaged public func removeFrom\(capital)(_ value: \(type))
          @objc(add\(capital):)
          @NSManaged public func addTo\(capital)(_ values: \(set))
          @objc(remove\(capital):)
          @NSManaged public func removeFrom\(capital)(_ values: \(set))
        }


        """
    }
    return text
  }

  // MARK: Around the classes

  private mutating func extras(of entity: Entity) -> String {
    guard !entity.isAbstract, let key = model.attributes(of: entity).first?.name else { return "" }
    let name = entity.swiftName
    switch random.below(3) {
    // Once in a tree, as a child inherits the conformance; Xcode writes it for a category.
    case 0 where entity.parent == nil && entity.generation == .manual:
      return "extension \(name): Identifiable {}\n"
    case 0: return ""
    case 1:
      return """
        extension \(name) {
          public class func find\(entity.name)(key: String, in context: NSManagedObjectContext) throws -> \(name)? {
            let request = NSFetchRequest<\(name)>(entityName: "\(entity.name)")
            request.predicate = NSPredicate(format: "%K == %@", #keyPath(\(name).\(key)), key)
            request.sortDescriptors = [NSSortDescriptor(key: #keyPath(\(name).\(key)), ascending: true)]
            request.fetchLimit = 1
            return try context.fetch(request).first
          }
        }

        """
    default:
      return """
        extension \(name) {
          public class func deleteAll\(entity.name)(in context: NSManagedObjectContext) throws -> Int {
            let request: NSFetchRequest<\(name)> = \(name).fetchRequest()
            let deletion = NSBatchDeleteRequest(fetchRequest: request as! NSFetchRequest<NSFetchRequestResult>)
            deletion.resultType = .resultTypeCount
            return (try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int ?? 0
          }
        }

        """
    }
  }
}

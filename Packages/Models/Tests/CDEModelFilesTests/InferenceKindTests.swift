import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

/// Every kind of difference between two versions: it is inferred, or refused with a remedy that works.
@Suite("What is inferred of two versions")
struct InferenceKindTests {
  private func infer(_ old: String, _ new: String) throws -> NSMappingModel {
    try NSMappingModel.inferredMappingModel(
      forSourceModel: try CDEModelFilesTests.model(old), destinationModel: try CDEModelFilesTests.model(new))
  }

  private func refusal(_ old: String, _ new: String) throws -> MappingInferenceError? {
    do { _ = try infer(old, new) } catch { return try #require(error as? MappingInferenceError) }
    return nil
  }

  // MARK: Types

  private static let numbers = [
    "Boolean", "Integer 16", "Integer 32", "Integer 64", "Float", "Double", "Decimal",
  ]
  private static let types =
    numbers + ["String", "Date", "Binary", "UUID", "URI", "Transformable", "Composite"]

  private func note(_ type: String, _ more: String) -> String {
    "<composite name='Point'><attribute name='x' optional='YES' attributeType='Double'/></composite>"
      + "<entity name='Note'><attribute name='value' attributeType='\(type)'"
      + (type == "Composite" ? " composite='Point'" : "") + " \(more)/></entity>"
  }

  @Test(
    "Of all pairs of attribute types, numbers and addresses are inferred, and the remedy helps with the others"
  )
  func types() throws {
    for old in Self.types {
      for new in Self.types {
        let isInferred =
          old == new || Self.numbers.contains(old) && Self.numbers.contains(new)
          || (old, new) == ("URI", "String")
        for (before, after) in [
          ("optional='YES'", "optional='YES'"), ("optional='YES'", ""), ("", "optional='YES'"),
        ] {
          let place = Comment("\(old) \(before) to \(new) \(after)")
          let error = try refusal(note(old, before), note(new, after))
          #expect((error == nil) == isInferred, place)
          guard let error else { continue }
          #expect(error.code == .incompatibleType && (error as NSError).code == 134190, place)
          #expect(error.entity == "Note" && error.property == "value", place)
          #expect(error.message.contains("renaming identifier of its own"), place)
          #expect(
            try refusal(note(old, before), note(new, after + " elementID='value of a new kind'")) == nil,
            place)
        }
      }
    }
  }

  // MARK: Kinds

  /// A kind of difference between the bodies of two models.
  struct Kind: Sendable, CustomTestStringConvertible {
    var name: String
    var old: String
    var new: String
    /// Nil where the difference is inferred.
    var code: MappingInferenceError.Code?
    /// The new body after what the message says has been done.
    var remedied: String?

    init(
      _ name: String, _ old: String, _ new: String, _ code: MappingInferenceError.Code? = nil,
      remedied: String? = nil
    ) {
      (self.name, self.old, self.new, self.code, self.remedied) = (name, old, new, code, remedied)
    }

    var testDescription: String { name }
  }

  private static func entity(_ name: String, _ properties: String = "", _ more: String = "") -> String {
    "<entity name='\(name)' \(more)>\(properties)</entity>"
  }

  private static func text(_ name: String, _ more: String = "optional='YES'") -> String {
    "<attribute name='\(name)' attributeType='String' \(more)/>"
  }

  private static func link(
    _ name: String, _ destination: String, _ inverse: String? = nil, _ more: String = "maxCount='1'"
  ) -> String {
    "<relationship name='\(name)' optional='YES' destinationEntity='\(destination)' \(more) "
      + (inverse.map { "inverseName='\($0)' inverseEntity='\(destination)'" } ?? "") + "/>"
  }

  private static let many = "toMany='YES'"
  private static let ordered = "toMany='YES' ordered='YES'"

  private static func pair(_ kind: String) -> String {
    entity("A", link("b", "B", "a", kind)) + entity("B", link("a", "A", "b"))
  }

  static let kinds: [Kind] = [
    Kind("optional to mandatory", entity("A", text("t")), entity("A", text("t", ""))),
    Kind(
      "optional to mandatory with a default", entity("A", text("t")),
      entity("A", text("t", "defaultValueString='none'"))),
    Kind("mandatory to optional", entity("A", text("t", "")), entity("A", text("t"))),
    Kind("to-one to to-many", pair("maxCount='1'"), pair(many)),
    Kind("to-many to to-one", pair(many), pair("maxCount='1'")),
    Kind("unordered to ordered", pair(many), pair(ordered)),
    Kind("ordered to unordered", pair(ordered), pair(many)),
    Kind("concrete to abstract", entity("A", text("t")), entity("A", text("t"), "isAbstract='YES'")),
    Kind("abstract to concrete", entity("A", text("t"), "isAbstract='YES'"), entity("A", text("t"))),
    Kind(
      "a parent is added", entity("A", text("t")),
      entity("P", text("t")) + entity("A", "", "parentEntity='P'")),
    Kind(
      "a parent is removed", entity("P", text("t")) + entity("A", "", "parentEntity='P'"),
      entity("A", text("t"))),
    Kind(
      "another parent", entity("P") + entity("Q") + entity("A", text("t"), "parentEntity='P'"),
      entity("P") + entity("Q") + entity("A", text("t"), "parentEntity='Q'")),
    Kind(
      "entities without a common parent get one", entity("A") + entity("B"),
      entity("P") + entity("A", "", "parentEntity='P'") + entity("B", "", "parentEntity='P'")),
    Kind(
      "properties exchange their names", entity("A", text("a") + text("b")),
      entity("A", text("a", "elementID='b'") + text("b", "elementID='a'"))),
    Kind(
      "entities exchange their names", entity("A", text("a")) + entity("B", text("b")),
      entity("A", text("b"), "elementID='B'") + entity("B", text("a"), "elementID='A'")),
    Kind(
      "elements of a composite",
      "<composite name='P'>\(text("x"))\(text("y"))</composite>"
        + entity("A", "<attribute name='p' attributeType='Composite' composite='P'/>"),
      "<composite name='P'>\(text("y"))\(text("z"))</composite>"
        + entity("A", "<attribute name='p' attributeType='Composite' composite='P'/>")),
    Kind(
      "stored to derived", entity("A", text("t") + text("u")),
      entity(
        "A", text("t") + text("u", "optional='YES' derived='YES' derivationExpression='uppercase:(t)'"))),
    Kind(
      "derived to stored",
      entity(
        "A", text("t") + text("u", "optional='YES' derived='YES' derivationExpression='uppercase:(t)'")),
      entity("A", text("t") + text("u"))),
    Kind(
      "a derived attribute of another type", entity("A", text("t")),
      entity(
        "A", "<attribute name='t' attributeType='Date' derived='YES' derivationExpression='now()'/>")),
    Kind("transient to stored", entity("A", text("t", "transient='YES'")), entity("A", text("t"))),
    Kind("stored to transient", entity("A", text("t")), entity("A", text("t", "transient='YES'"))),
    Kind(
      "another transformer",
      entity("A", "<attribute name='t' attributeType='Transformable' valueTransformerName='One'/>"),
      entity("A", "<attribute name='t' attributeType='Transformable' valueTransformerName='Other'/>")),
    Kind(
      "values may be in files",
      entity("A", "<attribute name='t' attributeType='Binary'/>"),
      entity("A", "<attribute name='t' attributeType='Binary' allowsExternalBinaryDataStorage='YES'/>")),
    Kind(
      "the destination is its parent now",
      entity("P") + entity("B", "", "parentEntity='P'") + entity("A", link("b", "B")),
      entity("P") + entity("B", "", "parentEntity='P'") + entity("A", link("b", "P"))),
    Kind(
      "the destination is a sub-entity now",
      entity("P") + entity("B", "", "parentEntity='P'") + entity("A", link("b", "P")),
      entity("P") + entity("B", "", "parentEntity='P'") + entity("A", link("b", "B"))),
    Kind(
      "the destination is removed, and another entity takes its place",
      entity("A", link("b", "B", "a")) + entity("B", link("a", "A", "b")),
      entity("A", link("b", "C", "a")) + entity("C", link("a", "A", "b"))),
    Kind(
      "an inverse is added", entity("A", link("b", "B")) + entity("B"),
      entity("A", link("b", "B", "a")) + entity("B", link("a", "A", "b"))),
    Kind(
      "the name before a renaming is used again", entity("A", text("b", "optional='YES' elementID='a'")),
      entity("A", text("a") + text("b", "optional='YES' elementID='a'"))),
    Kind(
      "the entity's name before a renaming is used again", entity("B", text("t"), "elementID='A'"),
      entity("A", text("u")) + entity("B", text("t"), "elementID='A'")),
    Kind(
      "an attribute becomes a relationship", entity("A", text("b")) + entity("B"),
      entity("A", link("b", "B")) + entity("B"), .incompatibleKind,
      remedied: entity("A", link("b", "B", nil, "maxCount='1' elementID='new b'")) + entity("B")),
    Kind(
      "a relationship becomes an attribute", entity("A", link("b", "B")) + entity("B"),
      entity("A", text("b")) + entity("B"), .incompatibleKind,
      remedied: entity("A", text("b", "optional='YES' elementID='new b'")) + entity("B")),
    Kind(
      "the destination is another entity, and the old one stays",
      entity("A", link("b", "B")) + entity("B") + entity("C"),
      entity("A", link("b", "C")) + entity("B") + entity("C"), .incompatibleDestination,
      remedied: entity("A", link("b", "C", nil, "maxCount='1' elementID='new b'")) + entity("B") + entity("C")
    ),
    Kind(
      "the ends come from two relationships",
      entity("A", link("x", "B", "x") + link("y", "B", "y"))
        + entity("B", link("x", "A", "x") + link("y", "A", "y")),
      entity("A", link("x", "B", "y")) + entity("B", link("y", "A", "x")), .divergedEnds,
      remedied: entity("A", link("x", "B", "y"))
        + entity("B", link("y", "A", "x", "maxCount='1' elementID='new y'"))),
    Kind(
      "an attribute keeps its name and another one claims it", entity("A", text("a")),
      entity("A", text("a") + text("b", "optional='YES' elementID='a'")), .ambiguousName,
      remedied: entity(
        "A", text("a", "optional='YES' elementID='new a'") + text("b", "optional='YES' elementID='a'"))),
    Kind(
      "an entity keeps its name and another one claims it", entity("A"),
      entity("A") + entity("B", "", "elementID='A'"), .ambiguousName,
      remedied: entity("A", "", "elementID='new A'") + entity("B", "", "elementID='A'")),
    Kind(
      "two old attributes have one identifier",
      entity("A", text("a", "optional='YES' elementID='i'") + text("b", "optional='YES' elementID='i'")),
      entity("A", text("c", "optional='YES' elementID='i'")), .ambiguousName,
      remedied: entity("A", text("b", "optional='YES' elementID='i'"))),
    Kind(
      "two old entities have one identifier",
      entity("A", "", "elementID='i'") + entity("B", "", "elementID='i'"),
      entity("C", "", "elementID='i'"), .ambiguousName,
      remedied: entity("B", "", "elementID='i'")),
  ]

  @Test("A difference is inferred, or refused with a remedy that works", arguments: kinds)
  func kind(_ kind: Kind) throws {
    let error = try refusal(kind.old, kind.new)
    #expect(error?.code == kind.code, "\(error?.message ?? "inferred")")
    if let remedied = kind.remedied {
      let error = try refusal(kind.old, remedied)
      #expect(error == nil, "\(error?.message ?? "")")
    }
    #expect((kind.remedied == nil) == (kind.code == nil))
  }
}

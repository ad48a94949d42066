import CDEPredicates
import Foundation
import Testing

@Suite("NSPredicate beside Foundation")
struct NSPredicateTests {
  @Test("Compounds print canonically and evaluate")
  func compounds() throws {
    let a = NSPredicate(format: "a == %@", 1)
    let b = NSPredicate(format: "b == 1 OR c == 1")
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [a, b])
    #expect(format(both) == "a == 1 AND (b == 1 OR c == 1)")
    #expect(
      format(TreeCompoundPredicate(orPredicateWithSubpredicates: [a, both])) == "a == 1 OR (\(format(both)))")
    #expect(format(TreeCompoundPredicate(notPredicateWithSubpredicate: a)) == "NOT a == 1")
    #expect(format(TreeCompoundPredicate(notPredicateWithSubpredicate: both)) == "NOT (\(format(both)))")
    #expect(format(TreeCompoundPredicate(type: .and, subpredicates: [])) == "TRUEPREDICATE")
    #expect(format(TreeCompoundPredicate(type: .or, subpredicates: [])) == "FALSEPREDICATE")
    #expect(both.evaluate(with: ["a": 1, "c": 1]))
    #expect(!both.evaluate(with: ["a": 1]))
    #expect(both.subpredicates == [a, b] && both.compoundPredicateType == .and)
    let typed: NSCompoundPredicate = both
    #expect(try typed.predicateTree() == PredicateTree(format: format(both)))
  }

  @Test("A compound made by Foundation composes by its parts")
  func foreignCompound() throws {
    let parts = [NSPredicate(format: "a == 1"), NSPredicate(value: true)]
    let foreign = NSCompoundPredicate(orPredicateWithSubpredicates: parts)
    #expect(try foreign.predicateTree().predicateFormat == "a == 1 OR TRUEPREDICATE")
    #expect(foreign.canonicalFormat == "a == 1 OR TRUEPREDICATE")
    let negated = NSCompoundPredicate(notPredicateWithSubpredicate: foreign)
    #expect(negated.canonicalFormat == "NOT (a == 1 OR TRUEPREDICATE)")
    #expect(negated.evaluate(with: ["a": 1]) == false)
    #expect(NSCompoundPredicate(type: .not, subpredicates: [parts[0]]).evaluate(with: ["a": 2]))
    let inside = NSCompoundPredicate(andPredicateWithSubpredicates: [foreign, parts[0]])
    #expect(format(inside) == "(a == 1 OR TRUEPREDICATE) AND a == 1")
    #expect(try inside.matches(["a": 1]))
  }

  @Test("Blocks keep working and have no tree")
  func blocks() throws {
    let block = NSPredicate { object, _ in (object as? [String: Int])?["a"] == 1 }
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "a > 0")])
    #expect(both.evaluate(with: ["a": 1]) && !both.evaluate(with: ["a": 2]))
    #expect(throws: PredicateTreeError.self) { try both.predicateTree() }
    #expect(format(both) == "BLOCKPREDICATE AND a > 0")
    #expect(try NSPredicate(value: false).predicateTree() == .constant(false))
    #expect(NSPredicate(value: true).evaluate(with: nil))
  }

  @Test("An error inside makes the whole compound false, also under NOT")
  func errors() throws {
    let broken = NSPredicate(format: "a ==")
    for compound in [
      TreeCompoundPredicate(notPredicateWithSubpredicate: broken),
      TreeCompoundPredicate(orPredicateWithSubpredicates: [broken, NSPredicate(value: true)]),
    ] {
      #expect(compound.evaluate(with: ["a": 1]) == false)
      #expect(throws: PredicateTreeError.self) { try compound.predicateTree() }
    }
  }

  @Test("Predicates are equal by their trees")
  func equality() throws {
    let a = NSPredicate(format: "a == %@", 1)
    let b = NSPredicate(format: "%K == %d", "a", 1)
    #expect(a == b && a.hash == b.hash && Set([a, b]).count == 1)
    #expect(a != NSPredicate(format: "a == 2"))
    #expect(a != NSPredicate(value: true) && a != NSPredicate(value: false) && NSPredicate(value: false) != a)
    let two = NSPredicate(format: "a == 1 AND b == 2")
    let joined = NSCompoundPredicate(andPredicateWithSubpredicates: [a, NSPredicate(format: "b == 2")])
    #expect(two == joined && joined == two && two.hash == joined.hash)
    #expect((a.copy() as? NSPredicate) == a)
    #expect(
      NSCompoundPredicate(andPredicateWithSubpredicates: [a])
        == NSCompoundPredicate(andPredicateWithSubpredicates: [b]))
    #expect(
      NSCompoundPredicate(andPredicateWithSubpredicates: [a])
        != TreeCompoundPredicate(orPredicateWithSubpredicates: [b]))
  }

  @Test("Variables are substituted, or given at evaluation")
  func variables() throws {
    let template = NSPredicate(format: "name ==[cd] $NAME AND SUBQUERY(tags, $NAME, $NAME == 1).@count == 0")
    let ready = template.withSubstitutionVariables(["NAME": "ADA"])
    #expect(format(ready) == "name ==[cd] \"ADA\" AND SUBQUERY(tags, $NAME, $NAME == 1).@count == 0")
    #expect(ready.evaluate(with: ["name": "ada", "tags": []]))
    #expect(template.evaluate(with: ["name": "ada", "tags": []], substitutionVariables: ["NAME": "ada"]))
    #expect(throws: PredicateTreeError.self) { try template.matches(["name": "ada"]) }
    let owner = Thing(1, ["id": 7])
    let fetched = NSPredicate(format: "task == $SOURCE.id")
    #expect(try fetched.matches(["task": 7], substitutionVariables: ["SOURCE": owner]))
    #expect(fetched.withSubstitutionVariables(["SOURCE": owner]).canonicalFormat == "task == 7")
    let several = NSPredicate(format: "task IN $SOURCE.id").withSubstitutionVariables([
      "SOURCE": [owner, Thing()]
    ])
    #expect(several.canonicalFormat == "task IN {7, nil}")
    #expect(
      NSPredicate(format: "owner == $SOURCE").withSubstitutionVariables(["SOURCE": owner]).canonicalFormat
        == "owner == <thing 1>")
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [template])
    #expect(compound.withSubstitutionVariables(["NAME": "ADA"]).evaluate(with: ["name": "ada"]))
    let bad = template.withSubstitutionVariables(["NAME": Bundle.main])
    #expect(throws: PredicateTreeError.self) { try bad.predicateTree() }
  }

  @Test("Filtering a sequence prepares a pattern once and keeps the order")
  func filtering() throws {
    let predicate = NSPredicate(format: "SELF MATCHES[c] 'a.*' OR SELF LIKE '*z'")
    #expect(["Ab", "b", "bz", "a"].filter { predicate.evaluate(with: $0) } == ["Ab", "bz", "a"])
  }

  @Test("A format makes no instances of subclasses")
  func subclass() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSCompoundPredicate(format: "a == 1")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A format makes an NSPredicate"))
  }
}

import CDESwiftData
import Foundation

/// A form of condition: its name, and the condition with values that are drawn.
struct ParcelForm: Sendable {
  let name: String
  let make: @Sendable (inout Draw) -> Predicate<Parcel>
  init(_ name: String, _ make: @escaping @Sendable (inout Draw) -> Predicate<Parcel>) {
    self.name = name
    self.make = make
  }
}

extension ParcelForm {
  static let values: [ParcelForm] = [
    ParcelForm("==") {
      let v = $0.int(); return #Predicate { $0.number == v }
    },
    ParcelForm("!=") {
      let v = $0.text(); return #Predicate { $0.name != v }
    },
    ParcelForm("<") {
      let v = $0.int(); return #Predicate { $0.number < v }
    },
    ParcelForm(">= of reals") {
      let v = $0.real(); return #Predicate { $0.weight >= v }
    },
    ParcelForm("a constant first") {
      let v = $0.real(); return #Predicate { v < $0.weight }
    },
    ParcelForm("two properties") { _ in #Predicate { $0.name == $0.place.city } },
    ParcelForm("an optional and a value") {
      let v = $0.int(); return #Predicate { $0.rank == v }
    },
    ParcelForm("an optional is no value") {
      let v = $0.int(); return #Predicate { $0.rank != v }
    },
    ParcelForm("an optional and an optional") {
      let v = $0.optional { $0.int() }; return #Predicate { $0.rank == v }
    },
    ParcelForm("an optional text is nil") { _ in #Predicate { $0.note == nil } },
    ParcelForm("an optional text is not nil") { _ in #Predicate { $0.note != nil } },
    ParcelForm("two optionals") { _ in #Predicate { $0.rank == $0.station?.code } },
    ParcelForm("a date") {
      let v = $0.date(); return #Predicate { $0.sent <= v }
    },
    ParcelForm("an optional date, unwrapped") {
      let v = $0.date(); return #Predicate { $0.due != nil && $0.due! < v }
    },
    ParcelForm("an identifier of its own") {
      let v = $0.uuid(); return #Predicate { $0.key == v }
    },
    ParcelForm("a flag") { _ in #Predicate { $0.isOpen } },
    ParcelForm("no flag") { _ in #Predicate { !$0.isOpen } },
    ParcelForm("an optional flag") { _ in #Predicate { $0.isPaid == true } },
    ParcelForm("an optional flag, coalesced") { _ in #Predicate { $0.isPaid ?? true } },
    ParcelForm("flags compared") {
      let v = $0.bool(); return #Predicate { $0.isOpen == v }
    },
    ParcelForm("true") { _ in #Predicate { _ in true } },
    ParcelForm("false") { _ in #Predicate { _ in false } },
    ParcelForm("and, or, not") {
      let (a, b) = ($0.int(), $0.text())
      return #Predicate { ($0.number > a && $0.name != b) || !($0.isOpen || $0.rank == a) }
    },
  ]

  static let computed: [ParcelForm] = [
    ParcelForm("a sum") {
      let v = $0.int(); return #Predicate { $0.number + 2 > v }
    },
    ParcelForm("a difference of reals") {
      let v = $0.real(); return #Predicate { $0.weight - 1.5 < v }
    },
    ParcelForm("a product") {
      let v = $0.int(); return #Predicate { $0.number * 2 == v }
    },
    ParcelForm("a quotient of reals") {
      let v = $0.real(); return #Predicate { $0.weight / 2 > v }
    },
    ParcelForm("a quotient of integers") {
      let v = $0.int(); return #Predicate { $0.number / 2 == v }
    },
    ParcelForm("a remainder") { _ in #Predicate { $0.number % 2 == 0 } },
    ParcelForm("a negation") {
      let v = $0.int(); return #Predicate { -$0.number > v }
    },
    ParcelForm("coalesced") {
      let v = $0.int(); return #Predicate { ($0.rank ?? 0) > v }
    },
    ParcelForm("coalesced text") {
      let v = $0.text(); return #Predicate { ($0.note ?? "") == v }
    },
    ParcelForm("coalesced and added") {
      let v = $0.int(); return #Predicate { ($0.rank ?? 1) + $0.number >= v }
    },
    ParcelForm("coalesced twice") {
      let v = $0.int(); return #Predicate { ($0.rank ?? $0.station?.code ?? 9) < v }
    },
    ParcelForm("a ternary") {
      let v = $0.int(); return #Predicate { ($0.isOpen ? $0.number : 0) == v }
    },
    ParcelForm("a ternary of conditions") {
      let (a, b) = ($0.int(), $0.text())
      return #Predicate { $0.isOpen ? $0.number > a : $0.name == b }
    },
    ParcelForm("an if") {
      let v = $0.int()
      return #Predicate { parcel in
        if let rank = parcel.rank { rank > v } else { parcel.isOpen }
      }
    },
    ParcelForm("a flatMap") {
      let v = $0.int(); return #Predicate { $0.rank.flatMap { $0 + 1 } == v }
    },
    ParcelForm("a closed range") {
      let v = $0.int(); return #Predicate { (v...(v + 3)).contains($0.number) }
    },
    ParcelForm("a half open range") {
      let v = $0.int(); return #Predicate { (v..<(v + 3)).contains($0.number) }
    },
    ParcelForm("a captured range") {
      let low = $0.int()
      let range = low...(low + 2)
      return #Predicate { range.contains($0.number) }
    },
    ParcelForm("a range of dates") {
      let start = $0.date()
      let range = start...start.addingTimeInterval(7200)
      return #Predicate { range.contains($0.sent) }
    },
    ParcelForm("one of a list") {
      let v = [$0.int(), $0.int()]; return #Predicate { v.contains($0.number) }
    },
    ParcelForm("one of a set") {
      let v = Set([$0.text(), $0.text()]); return #Predicate { v.contains($0.name) }
    },
    ParcelForm("one of no list") { _ in
      let v: [Int] = []; return #Predicate { v.contains($0.number) }
    },
    ParcelForm("an optional of a list") {
      let v: [Int?] = [$0.int(), nil]
      return #Predicate { v.contains($0.rank) }
    },
    ParcelForm("an optional enumeration of a list with nil") {
      let v: [Parcel.Zone?] = [$0.one(Parcel.Zone.allCases), nil]
      return #Predicate { v.contains($0.zone) }
    },
    ParcelForm("a text that has one of a list") {
      let v = [$0.part(), $0.part()]
      return #Predicate { parcel in v.contains { parcel.name.contains($0) } }
    },
    ParcelForm("all of a list are members of a relationship") {
      let v = [$0.text(), $0.text()]
      return #Predicate { parcel in v.allSatisfy { text in parcel.marks.contains { $0.name == text } } }
    },
    ParcelForm("many of a list") {
      let v = (0..<1500).map { $0 * 7 } + [$0.int()]
      return #Predicate { parcel in v.contains { $0 == parcel.number } }
    },
    ParcelForm("a property of a captured structure") {
      let v = $0.place()
      return #Predicate { $0.name == v.city || $0.rank == v.floor }
    },
    ParcelForm("a property of a captured optional") {
      let v = $0.optional { $0.place() }
      return #Predicate { $0.number > v?.floor ?? 0 }
    },
    ParcelForm("an enumeration of a captured structure") {
      let v = $0.place()
      return #Predicate { $0.place.zone == v.zone }
    },
    ParcelForm("an element of a captured array") {
      let v = [$0.int(), $0.int()]
      return #Predicate { $0.number == v[0] || $0.number < v[1] }
    },
    ParcelForm("an optional of a list, coalesced") {
      let v = [$0.int(), $0.int()]
      return #Predicate { v.contains($0.rank ?? 0) }
    },
  ]

  static let texts: [ParcelForm] = [
    ParcelForm("contains") {
      let v = $0.part(); return #Predicate { $0.name.contains(v) }
    },
    ParcelForm("starts(with:)") {
      let v = $0.part(); return #Predicate { $0.name.starts(with: v) }
    },
    ParcelForm("localizedStandardContains") {
      let v = $0.part(); return #Predicate { $0.name.localizedStandardContains(v) }
    },
    ParcelForm("contains of an optional") {
      let v = $0.part(); return #Predicate { $0.note?.contains(v) == true }
    },
    ParcelForm("contains of an optional, coalesced") {
      let v = $0.part(); return #Predicate { $0.note?.contains(v) ?? true }
    },
    ParcelForm("contains of a coalesced text") {
      let v = $0.part(); return #Predicate { ($0.note ?? "a").contains(v) }
    },
    ParcelForm("localized of an optional") {
      let v = $0.part()
      return #Predicate { $0.note?.localizedStandardContains(v) ?? false }
    },
    ParcelForm("isEmpty") { _ in #Predicate { $0.name.isEmpty } },
    ParcelForm("not empty, optional") { _ in #Predicate { $0.note?.isEmpty == false } },
    ParcelForm("an order of texts") {
      let v = $0.text(); return #Predicate { $0.name < v }
    },
    ParcelForm("of a station") {
      let v = $0.part(); return #Predicate { $0.station?.name.contains(v) == true }
    },
  ]

  static let types: [ParcelForm] = [
    ParcelForm("an enumeration") {
      let v = $0.one(Parcel.Size.allCases); return #Predicate { $0.size == v }
    },
    ParcelForm("no enumeration") {
      let v = $0.one(Parcel.Size.allCases); return #Predicate { $0.size != v }
    },
    ParcelForm("an optional enumeration") {
      let v: Parcel.Zone? = $0.optional { $0.one(Parcel.Zone.allCases) }
      return #Predicate { $0.zone == v }
    },
    ParcelForm("a raw value") {
      let v = $0.int(); return #Predicate { $0.size.rawValue > v }
    },
    ParcelForm("an optional raw value") {
      let v = $0.one(["north", "E"]); return #Predicate { $0.zone?.rawValue == v }
    },
    ParcelForm("one of some cases") {
      let v = $0.some(Parcel.Size.allCases)
      return #Predicate { v.contains($0.size) }
    },
    ParcelForm("a case without raw value") {
      let v = $0.one(Parcel.Mode.allCases); return #Predicate { $0.mode == v }
    },
    ParcelForm("a part of a struct") {
      let v = $0.text(); return #Predicate { $0.place.city == v }
    },
    ParcelForm("an optional part") {
      let v = $0.int(); return #Predicate { ($0.place.floor ?? 0) >= v }
    },
    ParcelForm("an optional part is nil") { _ in #Predicate { $0.place.floor == nil } },
    ParcelForm("an enumeration in a struct") {
      let v = $0.one(Parcel.Zone.allCases); return #Predicate { $0.place.zone == v }
    },
    ParcelForm("a part of an optional struct") {
      let v = $0.text(); return #Predicate { $0.former?.city == v }
    },
    ParcelForm("no struct") { _ in #Predicate { $0.former == nil } },
    ParcelForm("a text of an optional struct") {
      let v = $0.part(); return #Predicate { $0.former?.city.contains(v) == true }
    },
  ]

  static let related: [ParcelForm] = [
    ParcelForm("a chain") {
      let v = $0.text(); return #Predicate { $0.station?.name == v }
    },
    ParcelForm("a chain that differs") {
      let v = $0.text(); return #Predicate { $0.station?.name != v }
    },
    ParcelForm("a long chain") {
      let v = $0.text(); return #Predicate { $0.station?.chief?.name == v }
    },
    ParcelForm("an optional at the end") {
      let v = $0.int(); return #Predicate { ($0.station?.chief?.age ?? 0) > v }
    },
    ParcelForm("an end that is nil") { _ in #Predicate { $0.station?.chief?.age == nil } },
    ParcelForm("a chain of an order") {
      let v = $0.int(); return #Predicate { ($0.station?.code ?? 100) < v }
    },
    ParcelForm("no station") { _ in #Predicate { $0.station == nil } },
    ParcelForm("a station") { _ in #Predicate { $0.station != nil } },
    ParcelForm("a flatMap over a station") {
      let v = $0.int()
      return #Predicate { $0.station.flatMap { $0.code } == v }
    },
    ParcelForm("if let of a station") {
      let v = $0.text()
      return #Predicate { parcel in
        if let station = parcel.station { station.name == v } else { false }
      }
    },
    ParcelForm("contains(where:)") {
      let v = $0.int(); return #Predicate { $0.pieces.contains { $0.count > v } }
    },
    ParcelForm("allSatisfy") {
      let v = $0.int(); return #Predicate { $0.pieces.allSatisfy { $0.count > v } }
    },
    ParcelForm("no contains(where:)") {
      let v = $0.text(); return #Predicate { !$0.marks.contains { $0.name == v } }
    },
    ParcelForm("filter and count") {
      let (a, b) = ($0.int(), $0.int())
      return #Predicate { $0.pieces.filter { $0.count >= a }.count > b }
    },
    ParcelForm("filter and isEmpty") {
      let v = $0.int(); return #Predicate { $0.marks.filter { $0.level == v }.isEmpty }
    },
    ParcelForm("count") {
      let v = $0.int(); return #Predicate { $0.pieces.count >= v }
    },
    ParcelForm("isEmpty of a relationship") { _ in #Predicate { $0.marks.isEmpty } },
    ParcelForm("an optional in an element") {
      let v = $0.real(); return #Predicate { $0.pieces.contains { ($0.price ?? 0) > v } }
    },
    ParcelForm("an element and its owner") { _ in
      #Predicate { parcel in parcel.pieces.contains { $0.count == parcel.number } }
    },
    ParcelForm("an element that leads back") {
      let v = $0.int(); return #Predicate { $0.pieces.contains { ($0.parcel?.number ?? 0) > v } }
    },
    ParcelForm("two levels of elements") {
      let v = $0.int()
      return #Predicate { $0.marks.contains { $0.parcels.contains { $0.number > v } } }
    },
    ParcelForm("elements over a chain") {
      let v = $0.int()
      return #Predicate { $0.station?.parcels.contains { $0.number > v } == true }
    },
    ParcelForm("optional elements") {
      let v = $0.int(); return #Predicate { $0.stamps?.contains { $0.value == v } == true }
    },
    ParcelForm("optional elements, coalesced") {
      let v = $0.int(); return #Predicate { $0.stamps?.contains { $0.value == v } ?? false }
    },
    ParcelForm("optional elements, a flatMap") {
      let v = $0.int()
      return #Predicate { $0.stamps.flatMap { $0.contains { $0.value > v } } ?? false }
    },
    ParcelForm("no optional elements") { _ in #Predicate { $0.stamps?.isEmpty ?? true } },
    ParcelForm("a coalesced count") { _ in #Predicate { ($0.stamps?.count ?? 0) > 1 } },
  ]

  static let classes: [ParcelForm] = [
    ParcelForm("is") { _ in #Predicate { $0.cargo is Liquid } },
    ParcelForm("is not") { _ in #Predicate { !($0.cargo is Acid) } },
    ParcelForm("is and as") {
      let v = $0.real()
      return #Predicate { parcel in
        if let liquid = parcel.cargo as? Liquid { liquid.volume > v } else { false }
      }
    },
    ParcelForm("as, else") {
      let (v, text) = ($0.int(), $0.text())
      return #Predicate { parcel in
        if let acid = parcel.cargo as? Acid { (acid.grade ?? 0) > v } else { parcel.name != text }
      }
    },
    ParcelForm("a chain through as") {
      let v = $0.real()
      return #Predicate { ($0.cargo as? Liquid)?.volume == v }
    },
    ParcelForm("an optional through as") {
      let v = $0.int()
      return #Predicate { ($0.cargo as? Acid)?.grade == v }
    },
    ParcelForm("nil through as") { _ in #Predicate { ($0.cargo as? Acid)?.grade == nil } },
    ParcelForm("not nil through as") { _ in #Predicate { ($0.cargo as? Acid)?.grade != nil } },
    ParcelForm("unequal through as") {
      let v = $0.int()
      return #Predicate { ($0.cargo as? Acid)?.grade != v }
    },
    ParcelForm("coalesced through as") {
      let v = $0.real()
      return #Predicate { (($0.cargo as? Liquid)?.volume ?? 0) > v }
    },
    ParcelForm("a text through as") { _ in
      #Predicate { ($0.cargo as? Glass)?.tint.contains("e") ?? false }
    },
    ParcelForm("an order through as") {
      let v = $0.real()
      return #Predicate { ($0.cargo as? Liquid).flatMap { $0.volume < v } == true }
    },
    ParcelForm("as one, as another") {
      let (v, text) = ($0.real(), $0.part())
      return #Predicate { parcel in
        if let liquid = parcel.cargo as? Liquid {
          liquid.volume < v
        } else if let glass = parcel.cargo as? Glass {
          glass.tint.contains(text)
        } else {
          parcel.isOpen
        }
      }
    },
    ParcelForm("an inherited property after a cast") {
      let v = $0.int()
      return #Predicate { parcel in
        if let glass = parcel.cargo as? Glass { glass.code == v } else { false }
      }
    },
  ]
}

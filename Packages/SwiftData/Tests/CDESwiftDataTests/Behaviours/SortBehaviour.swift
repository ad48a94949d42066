import CDESwiftData
import Foundation
import Testing

@Suite("Behaviour: orders")
struct SortBehaviour {
  /// Novels of two writers, saved in part.
  private func filled() throws -> ModelContext {
    let context = try Shelf.context()
    let (ann, bea) = (Writer("Ann"), Writer("Bea"))
    ann.born = Date(timeIntervalSince1970: 100)
    bea.born = Date(timeIntervalSince1970: 50)
    for (title, writer, rating) in [
      ("b10", ann, 3.5), ("b9", bea, nil), ("B2", nil, 1), ("a", ann, nil), ("C", bea, 4),
    ] as [(String, Writer?, Double?)] {
      let novel = Novel(title, pages: title.count, writer: writer)
      novel.rating = rating
      context.insert(novel)
    }
    return context
  }

  private func check(
    _ order: [SortDescriptor<Novel>], _ titles: [String], _ comment: Comment? = nil
  ) throws {
    let context = try filled()
    for _ in 0..<2 {
      #expect(try context.fetch(FetchDescriptor(sortBy: order)).map(\.title) == titles, comment)
      #expect(
        try context.fetchIdentifiers(FetchDescriptor(sortBy: order)).count == titles.count, comment)
      try context.save()
    }
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor(sortBy: order)).map(\.title) == titles,
      comment)
  }

  @Test("Texts are ordered by their characters", .tags(.documented))
  func texts() throws {
    try check([SortDescriptor(\.title)], ["B2", "C", "a", "b10", "b9"])
    try check([SortDescriptor(\.title, order: .reverse)], ["b9", "b10", "a", "C", "B2"])
  }

  @Test("The localized standard order minds numbers, and no case", .tags(.documented))
  func localized() throws {
    try check([SortDescriptor(\.title, comparator: .localizedStandard)], ["a", "B2", "b9", "b10", "C"])
    try check(
      [SortDescriptor(\.title, comparator: .localizedStandard, order: .reverse)],
      ["C", "b10", "b9", "B2", "a"])
  }

  @Test("Models without a value come first, and last in reverse", .tags(.decided))
  func optionals() throws {
    try check([SortDescriptor(\.rating), SortDescriptor(\.title)], ["a", "b9", "B2", "b10", "C"])
    try check(
      [SortDescriptor(\.rating, order: .reverse), SortDescriptor(\.title)], ["C", "b10", "B2", "a", "b9"])
  }

  @Test("An order follows an optional to-one relationship", .tags(.widelyKnown))
  func chains() throws {
    try check([SortDescriptor(\.writer?.name), SortDescriptor(\.title)], ["B2", "a", "b10", "C", "b9"])
    try check(
      [SortDescriptor(\.writer?.name, order: .reverse), SortDescriptor(\.title)],
      ["C", "b9", "a", "b10", "B2"])
    try check([SortDescriptor(\.writer?.born), SortDescriptor(\.title)], ["B2", "C", "b9", "a", "b10"])
  }

  @Test("An order follows two relationships", .tags(.widelyKnown))
  func longChain() throws {
    let context = try filled()
    for (day, novel) in try context.fetch(FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.title)]))
      .enumerated()
    {
      let borrowing = Borrowing(day: day)
      borrowing.novel = novel
    }
    let order = [SortDescriptor(\Borrowing.novel?.writer?.name), SortDescriptor(\Borrowing.day)]
    for _ in 0..<2 {
      let found = try context.fetch(FetchDescriptor(sortBy: order))
      #expect(found.map { $0.novel?.title } == ["B2", "a", "b10", "C", "b9"])
      try context.save()
    }
  }

  @Test("An enumeration is ordered by its raw value, and a part of a struct by itself", .tags(.decided))
  func parts() throws {
    let context = try Shelf.context()
    for (city, level) in [("Rome", Profile.Level.gold), ("Oslo", .basic), ("Bonn", .gold)] {
      let profile = Profile(city)
      profile.level = level
      context.insert(profile)
    }
    let order = [SortDescriptor(\Profile.address.city)]
    for _ in 0..<2 {
      #expect(
        try context.fetch(FetchDescriptor(sortBy: order)).map(\.address.city) == ["Bonn", "Oslo", "Rome"])
      try context.save()
    }
  }

  @Test("What is no stored property is told before the fetch", .tags(.documented))
  func refused() throws {
    let context = try filled()
    for order in [
      SortDescriptor(\Novel.title.count), SortDescriptor(\.shout), SortDescriptor(\.writer?.name.count),
      SortDescriptor(\.genres.count), SortDescriptor(\.writer?.shortName),
    ] {
      let error = try #require(throws: SwiftDataError.self) {
        try context.fetch(FetchDescriptor(sortBy: [order]))
      }
      #expect(error == .unsupportedSortDescriptor && error.entity == "Novel")
    }
    #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
      try ObservedQuery<Novel>(sort: [SortDescriptor(\.shout)], in: context)
    }
  }
}

extension Novel {
  fileprivate var shout: String { title.uppercased() }
}

extension Writer {
  fileprivate var shortName: String { String(name.prefix(1)) }
}

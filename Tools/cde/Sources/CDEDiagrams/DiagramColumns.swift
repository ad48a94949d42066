/// The columns of boxes that hang together.
struct Columns {
  private struct Node {
    /// The box; nil for the place where a line passes the column.
    let box: Int?
    var column: Int
    let height: Double
    var y = 0.0
    var left: [(node: Int, own: Double, other: Double)] = []
    var right: [(node: Int, own: Double, other: Double)] = []
  }

  private let graph: DiagramGraph
  private var nodes: [Node] = []
  private var columns: [[Int]] = []
  private var widths: [Double] = []
  private var xs: [Double] = []
  /// For each line the nodes that it visits, from left to right.
  private var visits: [(line: Int, nodes: [Int], isReversed: Bool)] = []
  private let sizes: [DiagramLayout.Rectangle]
  private(set) var width = 0.0
  private(set) var height = 0.0

  init(_ graph: DiagramGraph, _ part: [Int], _ sizes: [DiagramLayout.Rectangle]) {
    self.graph = graph
    self.sizes = sizes
    var neighbours: [Int: Set<Int>] = [:]
    for line in graph.lines where part.contains(line.from.box) && line.from.box != line.to.box {
      neighbours[line.from.box, default: []].insert(line.to.box)
      neighbours[line.to.box, default: []].insert(line.from.box)
    }
    let column = Self.columns(part, neighbours, sizes)
    var numbers: [Int: Int] = [:]
    for box in part {
      numbers[box] = nodes.count
      nodes.append(Node(box: box, column: column[box]!, height: sizes[box].height))
    }
    for (index, line) in graph.lines.enumerated() where numbers[line.from.box] != nil {
      let (from, to) = (numbers[line.from.box]!, numbers[line.to.box]!)
      let isReversed = nodes[from].column > nodes[to].column
      let (first, last) = isReversed ? (to, from) : (from, to)
      var path = [first]
      if nodes[first].column < nodes[last].column {
        for between in (nodes[first].column + 1)..<nodes[last].column {
          path.append(nodes.count)
          nodes.append(Node(box: nil, column: between, height: DiagramLayout.passage))
        }
      }
      path.append(last)
      visits.append((index, path, isReversed))
      let offsets = isReversed ? (line.to.row, line.from.row) : (line.from.row, line.to.row)
      for (position, pair) in zip(path, path.dropFirst()).enumerated()
      where nodes[pair.0].column != nodes[pair.1].column {
        let own = position == 0 ? DiagramLayout.offset(offsets.0) : DiagramLayout.passage / 2
        let other = position == path.count - 2 ? DiagramLayout.offset(offsets.1) : DiagramLayout.passage / 2
        nodes[pair.0].right.append((pair.1, own, other))
        nodes[pair.1].left.append((pair.0, other, own))
      }
    }
    columns = (0...(nodes.map(\.column).max() ?? 0)).map { number in
      nodes.indices.filter { nodes[$0].column == number }
    }
  }

  /// Boxes by their distance from the one with the most lines; a column that would be too high is several ones.
  private static func columns(
    _ part: [Int], _ neighbours: [Int: Set<Int>], _ sizes: [DiagramLayout.Rectangle]
  ) -> [Int: Int] {
    let start = part.max { (neighbours[$0]?.count ?? 0, $1) < (neighbours[$1]?.count ?? 0, $0) }!
    var distance = [start: 0]
    var ring = [start]
    var rings: [[Int]] = []
    while !ring.isEmpty {
      rings.append(ring)
      var next: [Int] = []
      for box in ring {
        for other in (neighbours[box] ?? []).sorted() where distance[other] == nil {
          distance[other] = rings.count
          next.append(other)
        }
      }
      ring = next
    }
    let area = part.reduce(0) { $0 + (sizes[$1].width + 110) * (sizes[$1].height + DiagramLayout.gap) }
    let limit = max((area * 0.75).squareRoot(), part.map { sizes[$0].height }.max() ?? 0)
    // The middle of the picture is for the box with the most lines: half of its neighbours stand on the left.
    var left: [[Int]] = []
    var right: [[Int]] = [rings[0]]
    var side: [Int: Bool] = [:]
    for ring in rings.dropFirst() {
      var parts: [Bool: [Int]] = [:]
      var heights: [Bool: Double] = [:]
      for box in ring {
        let parents = (neighbours[box] ?? []).compactMap {
          distance[$0] == distance[box]! - 1 ? side[$0] : nil
        }
        let isLeft =
          parents.isEmpty
          ? (heights[true] ?? 0) < (heights[false] ?? 0) : parents.filter { $0 }.count * 2 > parents.count
        side[box] = isLeft
        parts[isLeft, default: []].append(box)
        heights[isLeft, default: 0] += sizes[box].height + DiagramLayout.gap
      }
      left += split(parts[true] ?? [], limit, sizes)
      right += split(parts[false] ?? [], limit, sizes)
    }
    var result: [Int: Int] = [:]
    for (column, boxes) in (left.reversed() + right).enumerated() {
      for box in boxes { result[box] = column }
    }
    return result
  }

  private static func split(_ boxes: [Int], _ limit: Double, _ sizes: [DiagramLayout.Rectangle]) -> [[Int]] {
    var result: [[Int]] = []
    var height = 0.0
    for box in boxes {
      let more = sizes[box].height + DiagramLayout.gap
      if result.isEmpty || height + more > limit {
        result.append([])
        height = 0
      }
      result[result.count - 1].append(box)
      height += more
    }
    return result
  }

  // MARK: Places

  mutating func arrange() {
    for round in 0..<12 {
      for column in round.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed() {
        order(column, round)
      }
    }
    for column in columns.indices { stack(column, isLevel: false) }
    for round in 0..<16 {
      for column in round.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed() {
        stack(column)
      }
    }
    let top = nodes.map(\.y).min() ?? 0
    for index in nodes.indices { nodes[index].y -= top }
    height = nodes.map { $0.y + $0.height }.max() ?? 0
    widths = columns.map { column in column.compactMap { nodes[$0].box.map { sizes[$0].width } }.max() ?? 0 }
    var x = 0.0
    for column in columns.indices {
      xs.append(x)
      x += widths[column] + gutter(column)
    }
    let last = columns.count - 1
    width = xs[last] + widths[last] + (loops(last) > 0 ? gutter(last) : 0)
  }

  /// The number of lines whose ends are both in a column; they run at its right.
  private func loops(_ column: Int) -> Int {
    visits.count { nodes[$0.nodes[0]].column == column && nodes[$0.nodes.last!].column == column }
  }

  private func gutter(_ column: Int) -> Double {
    let crossing = columns[column].reduce(0) { $0 + nodes[$1].right.count }
    return 56 + Double(min(crossing, 16)) * 4 + Double(loops(column)) * 8
  }

  private mutating func order(_ column: Int, _ round: Int) {
    var places: [Int: Double] = [:]
    for other in columns {
      for (position, node) in other.enumerated() {
        places[node] = Double(position) / Double(max(other.count, 1))
      }
    }
    func weight(_ node: Int) -> Double {
      // Rows of one box are in an order, too.
      let around =
        (round % 4 < 2 ? nodes[node].left + nodes[node].right : nodes[node].right + nodes[node].left)
        .map { places[$0.node]! + $0.other / 100_000 }
      return around.isEmpty ? places[node]! : around.reduce(0, +) / Double(around.count)
    }
    let weights = Dictionary(uniqueKeysWithValues: columns[column].map { ($0, weight($0)) })
    columns[column].sort { (weights[$0]!, $0) < (weights[$1]!, $1) }
  }

  /// Where a node's lines would be level.
  private func wish(_ node: Int) -> Double? {
    let around = (nodes[node].left + nodes[node].right).map { nodes[$0.node].y + $0.other - $0.own }
    return around.isEmpty ? nil : around.reduce(0, +) / Double(around.count)
  }

  private mutating func stack(_ column: Int, isLevel: Bool = true) {
    var wished: [Double] = []
    var placed: [Double] = []
    var bottom = -Double.infinity
    for node in columns[column] {
      let want = (isLevel ? wish(node) : nil) ?? nodes[node].y
      let y = max(want, bottom)
      wished.append(want)
      placed.append(y)
      bottom = y + nodes[node].height + (nodes[node].box == nil ? DiagramLayout.passage : DiagramLayout.gap)
    }
    // What was pushed down moves up again, all together.
    let shift = zip(wished, placed).map { $0 - $1 }.reduce(0, +) / Double(max(placed.count, 1))
    for (node, y) in zip(columns[column], placed) { nodes[node].y = y + shift }
  }

  var rectangles: [(Int, DiagramLayout.Rectangle)] {
    nodes.compactMap { node in
      node.box.map {
        (
          $0,
          DiagramLayout.Rectangle(
            x: xs[node.column], y: node.y, width: widths[node.column], height: node.height)
        )
      }
    }
  }

  var paths: [(Int, [DiagramLayout.Point])] {
    visits.map { visit in
      let line = graph.lines[visit.line]
      let (start, end) = visit.isReversed ? (line.to, line.from) : (line.from, line.to)
      let first = nodes[visit.nodes[0]]
      let last = nodes[visit.nodes.last!]
      let right = xs[first.column] + widths[first.column]
      var points = [DiagramLayout.Point(x: right, y: first.y + DiagramLayout.offset(start.row))]
      for node in visit.nodes.dropFirst().dropLast() {
        let y = nodes[node].y + DiagramLayout.passage / 2
        points.append(.init(x: xs[nodes[node].column], y: y))
        points.append(.init(x: xs[nodes[node].column] + widths[nodes[node].column], y: y))
      }
      let isLoop = first.column == last.column
      points.append(.init(x: isLoop ? right : xs[last.column], y: last.y + DiagramLayout.offset(end.row)))
      return (visit.line, visit.isReversed ? points.reversed() : points)
    }
  }
}

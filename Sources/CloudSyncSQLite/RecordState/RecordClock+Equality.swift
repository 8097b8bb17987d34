import CloudSyncCore

// Equality is that of the coded bytes, as for every `CodedValue`: text by its UTF-8, numbers by their bits.
// It is written out field by field because every look at a row asks whether its clock is that of the cloud.

extension ColumnTime {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.time == rhs.time && lhs.life == rhs.life && UTF8Bytes.equal(lhs.name, rhs.name)
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(time)
    hasher.combine(life)
  }
}

extension CounterShare {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.time == rhs.time && lhs.writer == rhs.writer && lhs.sum == rhs.sum
      && UTF8Bytes.equal(lhs.column, rhs.column)
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(column) { hasher.combine(bytes: $0) }
    hasher.combine(writer)
    hasher.combine(time)
    hasher.combine(sum)
  }
}

extension SeenTime {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.time == rhs.time && lhs.writer == rhs.writer && UTF8Bytes.equal(lhs.column, rhs.column)
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(column) { hasher.combine(bytes: $0) }
    hasher.combine(writer)
    hasher.combine(time)
  }
}

extension Ancestor {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.time == rhs.time && lhs.writer == rhs.writer && UTF8Bytes.equal(lhs.column, rhs.column)
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(column) { hasher.combine(bytes: $0) }
    hasher.combine(writer)
    hasher.combine(time)
  }
}

extension PurgeMark {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.writer == rhs.writer && lhs.since == rhs.since
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(writer)
    hasher.combine(since)
  }
}

extension RecordClock {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.created == rhs.created && lhs.first == rhs.first && lhs.deleted == rhs.deleted
      && lhs.ended == rhs.ended && lhs.row == rhs.row && lhs.endings == rhs.endings
      && lhs.purge == rhs.purge
      && lhs.columns == rhs.columns && lhs.shares == rhs.shares && lhs.seen == rhs.seen
      && lhs.moves == rhs.moves
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(created)
    hasher.combine(first)
    hasher.combine(deleted)
    hasher.combine(ended)
    hasher.combine(row)
    hasher.combine(endings)
    hasher.combine(columns)
    hasher.combine(shares)
    hasher.combine(seen)
    hasher.combine(purge)
    hasher.combine(moves)
  }
}

extension RowMove {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.row == rhs.row && lhs.isOfInserted == rhs.isOfInserted
      && lhs.since == rhs.since && lhs.first == rhs.first && lhs.life == rhs.life
      && lhs.time == rhs.time
      && lhs.arrival == rhs.arrival && lhs.ended == rhs.ended && lhs.isUnion == rhs.isUnion
      && lhs.isFollowing == rhs.isFollowing && UTF8Bytes.equal(lhs.name, rhs.name)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(row)
    hasher.combine(isOfInserted)
    hasher.combine(since)
    hasher.combine(first)
    hasher.combine(life)
    hasher.combine(time)
    hasher.combine(arrival)
    hasher.combine(ended)
    hasher.combine(isUnion)
    hasher.combine(isFollowing)
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
  }
}

extension CloudRecord {
  package static func == (lhs: Self, rhs: Self) -> Bool {
    UTF8Bytes.equal(lhs.tag, rhs.tag) && lhs.clock == rhs.clock && lhs.values == rhs.values
      && UTF8Bytes.equal(lhs.differing, rhs.differing) && UTF8Bytes.equal(lhs.aside, rhs.aside)
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(tag) { hasher.combine(bytes: $0) }
    hasher.combine(clock)
    hasher.combine(values)
    hasher.combine(differing.count)
    hasher.combine(aside.count)
  }
}

extension RecordVersion {
  // Foreign fields are whoever's wrote last, and no part of the coded version.
  package static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.clock == rhs.clock && lhs.values == rhs.values
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(clock)
    hasher.combine(values)
  }
}

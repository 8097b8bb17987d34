#if canImport(SwiftUI)
import CloudSyncSQLite
import CloudSyncSession
import NotesModel
import SwiftUI

/// The list, with a field for a new note and the state of the sync.
struct NotesView: View {
  let model: NotesModel
  @State private var newText = ""

  var body: some View {
    NavigationStack {
      List {
        TextField("New note", text: $newText)
          .onSubmit {
            model.add(newText)
            newText = ""
          }
        ForEach(model.notes) { note in NoteRow(note: note, model: model) }
          .onDelete { model.delete(at: $0) }
      }
      .navigationTitle("Notes")
      .refreshable { await model.refresh() }
      .safeAreaInset(edge: .bottom) { SyncStatusView(model: model) }
    }
  }
}

/// A note that can be edited in place.
struct NoteRow: View {
  let note: Note
  let model: NotesModel
  @State private var text: String

  init(note: Note, model: NotesModel) {
    self.note = note
    self.model = model
    _text = State(initialValue: note.text)
  }

  var body: some View {
    HStack {
      Button {
        model.toggle(note)
      } label: {
        Image(systemName: note.isDone ? "checkmark.circle.fill" : "circle")
      }
      .buttonStyle(.plain)
      .accessibilityLabel(note.isDone ? "Done" : "Not done")
      TextField("Note", text: $text)
        .onSubmit { model.set(text: text, of: note) }
        // Another device has changed it.
        .onChange(of: note.text) { text = note.text }
      switch note.progress {
      case .synced: EmptyView()
      case .pending: Image(systemName: "icloud.and.arrow.up").foregroundStyle(.secondary)
      case .rejected(let reason):
        Image(systemName: "exclamationmark.icloud").foregroundStyle(.red).help(reason)
      }
    }
  }
}

/// What the engine does, and what the user can do about it.
struct SyncStatusView: View {
  let model: NotesModel

  var body: some View {
    let status = model.status
    VStack(alignment: .leading) {
      if let failure = model.failure {
        Label(failure, systemImage: "exclamationmark.triangle").foregroundStyle(.red)
      }
      if model.hasRejected {
        Button("Send rejected notes again") { model.retryRejected() }
      }
      if let error = status.haltedError {
        Label(error.message, systemImage: "exclamationmark.icloud")
        Button("Try again") { model.start() }
      } else if status.isWaiting {
        // It tries again by itself.
        Label(status.explanation, systemImage: "icloud.slash")
      } else if status.isSyncing {
        ProgressView(value: status.progress.fraction)
      } else if status.isRunning {
        Label("Synced", systemImage: "checkmark.icloud")
      } else {
        Button("Start syncing") { model.start() }
      }
    }
    .frame(maxWidth: .infinity, alignment: .leading)
    .padding()
    .background(.bar)
  }
}
#endif

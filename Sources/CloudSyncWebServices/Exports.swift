@_exported public import CloudSyncWire

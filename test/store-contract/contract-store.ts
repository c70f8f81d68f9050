import type { Change, FedChange } from '../../src/core/decisions/changes.ts'
import type {
  KeptReads,
  KeptRecords,
  Revision,
  Snapshot,
  SoleEngineStore,
  Unit,
  UnitResult,
} from '../../src/core/engine/ports.ts'
import type { ServerOnStore } from './server-on-store.ts'

/** A store that is open, with what the ports have in common: `Store`, of one server, and `SharedStore`, of several. */
export interface StateStore {
  /** Writes each change as a decision of its own, in their order. Rejects with the error of one that cannot be written. */
  write(...changes: readonly Change[]): Promise<void>
  /** Everything there is, as a server that starts now gets it. */
  load(): Promise<Snapshot>
  /** The core of the one server that works on it, whose wall clock is `wallMs` after `START_MS`. */
  serve(wallMs?: number): Promise<ServerOnStore>
  close(): Promise<void>
}

/** A store with everything that it keeps besides the state. */
export interface ContractStore extends StateStore {
  readonly kept: KeptRecords
  /** The reads of one reader in it. */
  readonly reads: KeptReads
}

/** A store of one server, under the contract. */
export interface SoleContractStore extends ContractStore, SoleEngineStore {}

/** A store that several servers share, with what its server has been told. */
export interface FollowedStore {
  commit(units: readonly Unit[], decidedAt: Revision): Promise<readonly UnitResult[]>
  /** The last revision that the server knows. */
  revision(): Revision
  readonly revisions: readonly Revision[]
  readonly seen: readonly FedChange[]
}

/** A store of several servers, under the contract. */
export interface SharedContractStore extends StateStore {
  /** Follows it without a server: instead of `serve`. */
  follow(): Promise<FollowedStore>
}

/** A kind of stores, and where they keep their data. */
export interface StoreKind<S extends StateStore = ContractStore> {
  /** A place without data. */
  emptyPlace(): Promise<string>
  /** The stored data of a place, for another server, as after a crash of the one there, which stays as it is. */
  crashed(place: string): Promise<string>
  open(place: string): Promise<S>
  /** Removes the data of a place that nobody has open. */
  remove(place: string): Promise<void>
  /** How many times the contract may change something that it changes very often. */
  readonly often: number
  /** Whether a crash may undo what a server has shown last: then it shows later times than before. */
  readonly writesBehind: boolean
}

/** How a part of the contract gets at stores. */
export interface StoreBench<S extends StateStore = ContractStore> extends Pick<
  StoreKind,
  'often' | 'writesBehind'
> {
  /** A new, empty store. */
  fresh(): Promise<S>
  /** The same data opened again, as after a restart. */
  reopen(store: S): Promise<S>
  /** The stored data opened as another store, as after a crash of the server; this store stays as it is. */
  crash(store: S): Promise<S>
}

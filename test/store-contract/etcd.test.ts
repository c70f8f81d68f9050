import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '@waypost/etcd-client/clock'
import { openEtcd } from '../../src/store/etcd/open-etcd.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type Etcd, startEtcd } from '../support/etcd.ts'
import type { ContractStore, SharedContractStore, StoreKind } from './contract-store.ts'
import { sharedContract } from './shared-contract.ts'
import { sharedStateStore } from './shared-state-store.ts'
import { storeContract } from './store-contract.ts'

/** Time limits that busy machines keep too. */
const PATIENT = { callMs: 15_000, attemptMs: 3_000 }

let etcd: Etcd
let places = 0
let processes = 0

function storeAt(prefix: string, member: string) {
  const { endpoints } = etcd
  const process = `process ${processes++}`
  const failed = () => {}
  return openEtcd({ endpoints, prefix, member, process, clock: systemClock, limits: PATIENT, failed }).store
}

type EtcdContractStore = ContractStore & SharedContractStore

async function open(place: string): Promise<EtcdContractStore> {
  const store = storeAt(place, '127.0.0.1:1')
  const state = sharedStateStore({
    store,
    async loadElsewhere() {
      const other = storeAt(place, '127.0.0.1:2')
      const snapshot = await other.load()
      await other.close()
      return snapshot
    },
    close: () => store.close(),
  })
  return { ...state, kept: store, reads: store.reads('a reader') }
}

const kind: StoreKind<EtcdContractStore> = {
  emptyPlace: async () => `place-${places++}`,
  crashed: async (place) => place,
  open,
  remove: async () => {},
  often: 100,
  writesBehind: false,
}

describeOnEtcd('etcd', 60_000, () => {
  beforeAll(async () => (etcd = await startEtcd()), ETCD_HOOK_MS)
  afterAll(() => etcd?.stop())

  storeContract('etcd', kind, sharedContract)
})

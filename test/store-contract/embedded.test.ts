import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import type { SoleContractStore, StoreKind } from './contract-store.ts'
import { commitAll } from './samples.ts'
import { soleServerOn } from './server-on-store.ts'
import { soleContract } from './sole-contract.ts'
import { storeContract } from './store-contract.ts'

const log = { info() {}, warn() {}, error() {} }
const newDirectory = () => mkdtemp(join(tmpdir(), 'waypost-store-'))

async function open(directory: string): Promise<SoleContractStore> {
  const store = await openEmbeddedStore({ directory, log })
  return {
    commit: (groups, events) => store.commit(groups, events),
    mayHave: (serial) => store.mayHave(serial),
    surelyHas: (serial) => store.surelyHas(serial),
    kept: store,
    reads: store.reads('a reader'),
    write: async (...changes) => void (await commitAll(store, ...changes)),
    load: () => store.load(),
    serve: (wallMs) => soleServerOn(store, wallMs),
    close: () => store.close(),
  }
}

const embedded: StoreKind<SoleContractStore> = {
  emptyPlace: newDirectory,
  async crashed(place) {
    const copy = await newDirectory()
    await cp(place, copy, { recursive: true })
    return copy
  },
  open,
  remove: (place) => rm(place, { recursive: true, force: true }),
  often: 8_000,
  writesBehind: true,
}

storeContract('embedded', embedded, soleContract)

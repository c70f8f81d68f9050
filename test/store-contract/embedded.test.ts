import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { storeContract } from './store-contract.ts'

const log = { info() {}, warn() {}, error() {} }

storeContract('embedded', (directory) => openEmbeddedStore({ directory, log }))

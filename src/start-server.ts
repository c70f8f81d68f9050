import { openLog } from './log.ts'
import type { RunningServer } from './server.ts'
import type { Settings } from './settings/settings.ts'
import { openEmbeddedStore } from './store/embedded/embedded-store.ts'

/**
 * Starts a server with these settings; resolves once it answers. The rest of the program is loaded while the store's
 * thread begins, opens its file and reads it: neither waits for the other.
 */
export async function startServer(settings: Settings): Promise<RunningServer> {
  const log = openLog(settings)
  const rest = import('./server.ts')
  // A module that is missing is told below, once it is waited for.
  rest.catch(() => {})
  const store = await openEmbeddedStore({ directory: settings.dataDir, log })
  const snapshot = store.load()
  // So is what cannot be read.
  snapshot.catch(() => {})
  try {
    const { serveFrom } = await rest
    return await serveFrom({ store, file: store.file, snapshot: await snapshot }, settings, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

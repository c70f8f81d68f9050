import { openLog } from './log.ts'
import type { RunningServer } from './server.ts'
import type { Settings } from './settings/settings.ts'
import { Certificates } from './server/certificates.ts'
import { openEmbeddedStore } from './store/embedded/embedded-store.ts'

/**
 * Starts a server with these settings. Resolves when it listens. The rest of the program is loaded while the thread of
 * the store opens and reads its file.
 */
export async function startServer(settings: Settings): Promise<RunningServer> {
  const log = openLog(settings)
  const rest = import('./server.ts')
  // A failed import is reported by the `await` below.
  rest.catch(() => {})
  const certificates = await Certificates.open(settings, log)
  const store = await openEmbeddedStore({ directory: settings.dataDir, log })
  const snapshot = store.load()
  // So is a file that cannot be read.
  snapshot.catch(() => {})
  try {
    const { serveFrom } = await rest
    return await serveFrom({ store, file: store.file, snapshot: await snapshot, certificates }, settings, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

import type { HistoryLimits } from '../core/config/state/history-limits.ts'
import { openLog } from './process/log.ts'
import type { RunningServer } from './server.ts'
import { Certificates } from './process/certificates.ts'
import type { Installation } from './process/installation.ts'
import { bodyMemoryOf, memoryLimitsOf } from './process/memory-limits.ts'
import { mostFiles } from '../metrics/process-metrics.ts'
import { reportLowered, withinFiles } from './process/file-limit.ts'
import { requireNotedMemory } from './process/stored-memory.ts'
import { collectOnOneThread } from './process/young-collector.ts'
import type { Settings } from '../settings/settings.ts'
import { openEmbeddedStore } from '../store/embedded/embedded-store.ts'

type Log = ReturnType<typeof openLog>

/** Starts a server with these settings. Resolves when it listens. */
export async function startServer(given: Settings): Promise<RunningServer> {
  const log = openLog(given)
  collectOnOneThread()
  // The rest of the program is loaded while the store opens and reads its data.
  const rest = import('./server.ts')
  // A failed import is reported by the `await` below.
  rest.catch(() => {})
  const placed = given.store === 'etcd' ? await withOwnPort(given) : given
  const settings = withinFiles({ ...placed, maxBodyMemoryBytes: bodyMemoryOf(placed) }, await mostFiles())
  const certificates = await Certificates.open(settings, log)
  const installation = await (settings.store === 'etcd' ? openShared : openSole)(settings, log)
  try {
    const { serveFrom } = await rest
    const server = await serveFrom({ installation, certificates }, settings, log)
    reportLowered(given, settings, log)
    return server
  } catch (error) {
    await installation.leave()
    throw error
  }
}

async function openSole(settings: Settings, log: Log): Promise<Installation> {
  if (settings.secretsKeyFile !== '')
    throw new Error(
      'secrets-key-file is for store=etcd: a server with a directory keeps its secrets there, where its owner alone may read.',
    )
  const store = await openEmbeddedStore({
    directory: settings.dataDir,
    log,
    history: historyLimits(settings),
  })
  try {
    await requireNotedMemory(store, memoryLimitsOf(settings))
    const snapshot = store.load()
    // A file that cannot be read is reported by the `await` below.
    snapshot.catch(() => {})
    const { SoleInstallation } = await import('./sole/sole-installation.ts')
    return new SoleInstallation({ store, file: store.file, snapshot: await snapshot }, settings)
  } catch (error) {
    await store.close()
    throw error
  }
}

function historyLimits({ historyMaxBytes, historyMaxBytesOfItem }: Settings): HistoryLimits {
  return { maxBytes: historyMaxBytes, maxBytesOfItem: historyMaxBytesOfItem }
}

async function openShared(settings: Settings, log: Log): Promise<Installation> {
  const { SharedInstallation } = await import('./shared/shared-installation.ts')
  return SharedInstallation.open(settings, log)
}

/** Servers that share a store are named by their port before they listen. */
async function withOwnPort(settings: Settings): Promise<Settings> {
  const { ownPort } = await import('./doors/own-port.ts')
  return { ...settings, port: await ownPort(settings) }
}

import type { Logger } from 'pino'
import type { PeerSecrets } from '../../cluster/peer-secret.ts'
import { SharedSecrets, firstSecrets, secretsText } from '../../cluster/shared-secrets.ts'
import { PEER_SECRETS } from '../../core/engine/remembered-values.ts'
import type { OpenEtcd } from '../../store/etcd/open-etcd.ts'
import { SealingCare } from '../../store/etcd/sealing/sealing-care.ts'
import { Refusal } from '../../core/refusal.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { monotonicMs } from '../process/clocks.ts'

/** The secrets that several servers share: the secret of the peer channel, and the keys that seal secrets in etcd. */
export class InstallationSecrets {
  readonly #shared: SharedSecrets
  readonly #sealing: SealingCare
  readonly #log: Pick<Logger, 'error'>
  readonly #failing = new Set<string>()

  private constructor(shared: SharedSecrets, sealing: SealingCare, log: Pick<Logger, 'error'>) {
    this.#shared = shared
    this.#sealing = sealing
    this.#log = log
  }

  /** Agrees with the other servers on a secret. `failed`: called with the reason to stop this server. */
  static async open(
    { store, client, sealing, secretsKey: inUse }: OpenEtcd,
    { log, failed }: { log: Logger; failed: (error: unknown) => void },
  ): Promise<InstallationSecrets> {
    const agreed = await store.agree(PEER_SECRETS.name, () => secretsText(firstSecrets()))
    return new InstallationSecrets(
      new SharedSecrets({ store, monotonicMs, log }, agreed),
      new SealingCare({ client, sealing, inUse, monotonicMs, log, failed }),
      log,
    )
  }

  /** Names the installation in the ids of events. */
  get origin(): string {
    return this.#shared.origin
  }

  /** The secrets of the peer channel. */
  get ofPeers(): PeerSecrets {
    return this.#shared.current
  }

  /** Call it at least once a second. If etcd is away, the next call tries again. */
  look(isElected: boolean): void {
    void this.#reporting('peer-secret', this.#shared.look(isElected))
    void this.#reporting('secrets-key', this.#sealing.look(isElected))
  }

  /** The log has a failure once. An etcd that is away says so itself. */
  async #reporting(name: string, looked: Promise<void>): Promise<void> {
    try {
      await looked
      this.#failing.delete(name)
    } catch (error) {
      if (isAway(error)) return
      if (!this.#failing.has(name))
        this.#log.error(
          { err: error, key: name },
          'a secret of the servers cannot be read: it stays as it was',
        )
      this.#failing.add(name)
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof EtcdError || (error instanceof Refusal && error.code === 'store-unavailable')
}

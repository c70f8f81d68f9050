import type { Logger } from 'pino'
import type { PeerSecrets } from '../../cluster/peer-secret.ts'
import { SharedSecrets, firstSecrets, secretsText, STORED_SECRETS } from '../../cluster/shared-secrets.ts'
import type { OpenEtcd } from '../../store/etcd/open-etcd.ts'
import { SealingCare } from '../../store/etcd/sealing/sealing-care.ts'
import { monotonicMs } from '../process/clocks.ts'

/** The secrets that several servers share: the secret of the peer channel, and the keys that seal secrets in etcd. */
export class InstallationSecrets {
  readonly #shared: SharedSecrets
  readonly #sealing: SealingCare

  private constructor(shared: SharedSecrets, sealing: SealingCare) {
    this.#shared = shared
    this.#sealing = sealing
  }

  /** Agrees with the other servers on a secret. `failed`: called with the reason to stop this server. */
  static async open(
    { store, client, sealing, secretsKey: inUse }: OpenEtcd,
    { log, failed }: { log: Logger; failed: (error: unknown) => void },
  ): Promise<InstallationSecrets> {
    const agreed = await store.agree(STORED_SECRETS, () => secretsText(firstSecrets()))
    return new InstallationSecrets(
      new SharedSecrets({ store, monotonicMs, log }, agreed),
      new SealingCare({ client, sealing, inUse, monotonicMs, log, failed }),
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
    for (const each of [this.#shared, this.#sealing]) void each.look(isElected).catch(() => undefined)
  }
}

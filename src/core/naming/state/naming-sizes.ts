import { Refusal } from '../../refusal.ts'

/** How many there are: in all, and in a namespace. */
export interface Size {
  readonly total: number
  in(namespaceId: string): number
}

/** How many services and instances are known. */
export interface NamingSizes {
  readonly services: Size
  readonly instances: Size
}

/** How many services and instances may be known; `Infinity`: any number. See docs/security.md. */
export interface NamingLimits {
  readonly maxServices: number
  readonly maxServicesPerNamespace: number
  readonly maxInstances: number
  readonly maxInstancesPerNamespace: number
}

/** No limits, for tests of other things. */
export const NO_NAMING_LIMITS: NamingLimits = {
  maxServices: Infinity,
  maxServicesPerNamespace: Infinity,
  maxInstances: Infinity,
  maxInstancesPerNamespace: Infinity,
}

/** A count for each namespace, on top of `base` where there is one. */
class SizeCounter implements Size {
  readonly #base: Size | undefined
  readonly #byNamespace = new Map<string, number>()
  #counted = 0

  constructor(base?: Size) {
    this.#base = base
  }

  get total(): number {
    return (this.#base?.total ?? 0) + this.#counted
  }

  in(namespaceId: string): number {
    return (this.#base?.in(namespaceId) ?? 0) + (this.#byNamespace.get(namespaceId) ?? 0)
  }

  /** Counts `difference` more, which may be negative. */
  add(namespaceId: string, difference: number): void {
    if (difference === 0) return
    this.#counted += difference
    const count = (this.#byNamespace.get(namespaceId) ?? 0) + difference
    if (count === 0) this.#byNamespace.delete(namespaceId)
    else this.#byNamespace.set(namespaceId, count)
  }
}

/** Counts services and instances, on top of `base` where there is one. */
export class NamingCounter implements NamingSizes {
  readonly services: SizeCounter
  readonly instances: SizeCounter

  constructor(base?: NamingSizes) {
    this.services = new SizeCounter(base?.services)
    this.instances = new SizeCounter(base?.instances)
  }
}

interface Sized {
  readonly namingSizes: NamingSizes
  readonly namingLimits: NamingLimits
}

/** Throws Refusal `too-many-services` where the namespace has as many services as are allowed. */
export function refuseServiceBeyondLimit({ namingSizes, namingLimits }: Sized, namespaceId: string): void {
  const { maxServices, maxServicesPerNamespace } = namingLimits
  const { services } = namingSizes
  if (services.total >= maxServices) throw tooMany('services', maxServices)
  if (services.in(namespaceId) >= maxServicesPerNamespace)
    throw tooMany('services', maxServicesPerNamespace, namespaceId)
}

/** Throws Refusal `too-many-instances` where the namespace has as many instances as are allowed. */
export function refuseInstanceBeyondLimit({ namingSizes, namingLimits }: Sized, namespaceId: string): void {
  const { maxInstances, maxInstancesPerNamespace } = namingLimits
  const { instances } = namingSizes
  if (instances.total >= maxInstances) throw tooMany('instances', maxInstances)
  if (instances.in(namespaceId) >= maxInstancesPerNamespace)
    throw tooMany('instances', maxInstancesPerNamespace, namespaceId)
}

function tooMany(what: 'services' | 'instances', most: number, namespaceId?: string): Refusal {
  const setting = namespaceId === undefined ? `max-${what}` : `max-${what}-per-namespace`
  const where = namespaceId === undefined ? 'The server' : `The namespace ${namespaceId}`
  const allowed = `at most ${most} ${what}${namespaceId === undefined ? '' : ' in a namespace'} (${setting})`
  const parameter = what === 'services' ? 'serviceName' : 'ip'
  const message = `${where} has ${most} ${what}, and ${setting} allows no more: remove some, or raise the setting.`
  return new Refusal(`too-many-${what}`, message, { parameter, allowed })
}

const SERVICE = /(late(\d)\w+)/

/** Holds one beat of a service whose name begins with `late` and its number, until a deregistration there is answered. */
export class LateBeats {
  readonly #counts = new Map<string, number>()
  readonly #held = new Map<string, () => void>()

  /** Sends a request on, or later. */
  pass(
    request: { readonly method?: string | undefined; readonly url?: string | undefined },
    send: () => void,
  ) {
    const [, service = '', number] = SERVICE.exec(request.url ?? '') ?? []
    if (request.method !== 'PUT' || number === undefined) return send()
    const count = (this.#counts.get(service) ?? 0) + 1
    this.#counts.set(service, count)
    if (count === Number(number)) this.#held.set(service, send)
    else send()
  }

  /** A request was answered. */
  answered(request: { readonly method?: string | undefined; readonly url?: string | undefined }): void {
    if (request.method !== 'DELETE') return
    const [, service = ''] = SERVICE.exec(request.url ?? '') ?? []
    this.#held.get(service)?.()
    this.#held.delete(service)
  }
}

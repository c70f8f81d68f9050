/** The parts of an answer that are checked. */
export interface RawResponse {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Parses the answers on a connection. Throws if the bytes are not a sequence of HTTP/1.1 answers. */
export class ResponseReader {
  #text = ''

  /** The answers that are complete with these bytes. */
  push(chunk: Buffer): RawResponse[] {
    this.#text += chunk.toString('latin1')
    const found: RawResponse[] = []
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      // 100 Continue is not the answer.
      if (next.status >= 200) found.push(next)
    }
    return found
  }

  #take(): RawResponse | undefined {
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const head = this.#text.slice(0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3}) [^\r\n]*(\r\n[^\r\n]+)*$/.exec(head)?.[1])
    if (Number.isNaN(status)) throw new Error(`not an answer: ${JSON.stringify(this.#text.slice(0, 200))}`)
    const length = this.#bodyLength(status, head, end + 4)
    if (length === undefined || this.#text.length < end + 4 + length) return undefined
    const body = this.#text.slice(end + 4, end + 4 + length)
    this.#text = this.#text.slice(end + 4 + length)
    return { status, head, body }
  }

  #bodyLength(status: number, head: string, from: number): number | undefined {
    if (status < 200 || status === 204 || status === 304) return 0
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    if (length !== undefined) return Number(length)
    const last = this.#text.indexOf('0\r\n\r\n', from)
    return last < 0 ? undefined : last + 5 - from
  }
}

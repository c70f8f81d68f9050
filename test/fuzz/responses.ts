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
    const bodyEnd = this.#bodyEnd(status, head, end + 4)
    if (bodyEnd === undefined || this.#text.length < bodyEnd) return undefined
    const body = this.#text.slice(end + 4, bodyEnd)
    this.#text = this.#text.slice(bodyEnd)
    return { status, head, body }
  }

  #bodyEnd(status: number, head: string, from: number): number | undefined {
    if (status < 200 || status === 204 || status === 304) return from
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    return length === undefined ? this.#chunksEnd(from) : from + Number(length)
  }

  /** Where the chunks end that begin here. By their sizes: what ends them may be part of a content. */
  #chunksEnd(from: number): number | undefined {
    const lineEnd = this.#text.indexOf('\r\n', from)
    if (lineEnd < 0) return undefined
    const size = this.#text.slice(from, lineEnd)
    if (!/^[\da-f]+$/i.test(size))
      throw new Error(`not the size of a chunk: ${JSON.stringify(size.slice(0, 200))}`)
    const next = lineEnd + 2 + parseInt(size, 16) + 2
    if (this.#text.length < next) return undefined
    if (this.#text.slice(next - 2, next) !== '\r\n') throw new Error('a chunk does not end where it should')
    return parseInt(size, 16) === 0 ? next : this.#chunksEnd(next)
  }
}

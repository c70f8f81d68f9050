/** A file of the console, as it was built. */
export interface PageFile {
  /** Its place below `/ui/`; empty for the page itself. */
  readonly path: string
  readonly contentType: string
  readonly plain: Buffer
  /** Compressed when it was built; undefined where that saves nothing. */
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
  /** Its name changes with its content, so a browser may keep it for ever. */
  readonly isHashed: boolean
}

/** The console that the server serves, or why there is none. */
export type ConsoleAssets =
  | { readonly kind: 'built'; readonly files: readonly PageFile[] }
  | { readonly kind: 'missing'; readonly reason: string }

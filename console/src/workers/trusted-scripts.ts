// The build makes addresses of the scripts.
// oxlint-disable import/default
import checkWorker from './check-worker.ts?worker&url'
import liveWorker from './live-worker.ts?sharedworker&url'
// oxlint-enable import/default

/** The scripts that may become workers, by their purposes. */
const SCRIPTS = { live: liveWorker, check: checkWorker } as const

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (address: string) => string },
  ): { createScriptURL(address: string): string }
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }

/** The policy of the page allows these scripts and nothing else. The Content-Security-Policy names it. */
const policy = trustedTypes?.createPolicy('waypost-workers', {
  createScriptURL: (name) => SCRIPTS[name as keyof typeof SCRIPTS],
})

/** The address of a worker's script, as browsers ask for it. */
export const workerScript = (name: keyof typeof SCRIPTS): string =>
  policy?.createScriptURL(name) ?? SCRIPTS[name]

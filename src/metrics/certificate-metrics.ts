import { gauge, type Metric } from './metric.ts'

/** The certificate of the server; undefined where it has none. */
export type CertificateFigures = () => { readonly expiresMs: number; readonly isBroken: boolean } | undefined

/** The metrics of the TLS certificate. Without one they have no value. */
export function certificateMetrics(figures: CertificateFigures): Metric[] {
  const read = (value: (status: { expiresMs: number; isBroken: boolean }) => number) => () => {
    const status = figures()
    return status === undefined ? [] : value(status)
  }
  return [
    gauge(
      'waypost_tls_certificate_expiry_timestamp_seconds',
      'When the TLS certificate in use expires, in seconds since 1970.',
      read(({ expiresMs }) => expiresMs / 1_000),
    ),
    gauge(
      'waypost_tls_files_broken',
      'Whether the TLS files hold a pair that cannot be used, so that the server keeps the one it has.',
      read(({ isBroken }) => (isBroken ? 1 : 0)),
    ),
  ]
}

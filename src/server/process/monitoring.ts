import { openScrape } from '../../operations/server/operator.ts'
import type { Logger } from 'pino'
import type { Observability } from './observability.ts'
import { healthRoutes } from '../../protocols/http/endpoints/health-routes.ts'
import { problemErrors } from '../../protocols/http/errors/problem.ts'
import { actuatorRoutes } from '../../protocols/http/nacos/actuator-routes.ts'
import { createHttpServer, type HttpServer } from '../../protocols/http/transport/http-server.ts'
import { advertisedHost, urlOf } from './server-address.ts'
import type { Settings } from '../../settings/settings.ts'

/** A monitoring system needs a few; each takes a file descriptor away from clients. */
const MOST_CONNECTIONS = 32

/**
 * Makes the separate address for measurements, if the settings name one: every client that reaches it may read them. Listens
 * only at `listen`, which rejects with an Error that names the address.
 */
export function openMonitoring(watch: Observability, settings: Settings, log: Logger) {
  const { metricsHost: host, metricsPort, shutdownGraceMs } = settings
  if (host === '') return { listen: async () => undefined, stop: async () => undefined }
  const http = monitoringServer(watch, settings)
  return {
    async listen(): Promise<void> {
      const { port } = await http.listen({ host, port: metricsPort }).catch((cause: Error) => {
        throw new Error(`cannot listen on metrics-host and metrics-port: ${cause.message}`, { cause })
      })
      log.info(
        { url: `${urlOf({ host, tlsCert: '' }, port)}/metrics` },
        'metrics have an address of their own',
      )
    },
    stop: () => http.stop(shutdownGraceMs),
  }
}

/** Serves only the requests of probes and monitoring, with the limits of the main address. */
function monitoringServer(watch: Observability, settings: Settings): HttpServer {
  const { notReady, warnings, faults, requests } = watch
  return createHttpServer({
    routes: [
      ...healthRoutes({ operator: { scrape: openScrape(watch.scrape) }, notReady, warnings, faults }),
      ...actuatorRoutes({ operator: { scrapeForNacos: openScrape(watch.scrapeForNacos) }, notReady }),
    ],
    settings: {
      ...settings,
      maxConnections: Math.min(MOST_CONNECTIONS, settings.maxConnections),
      advertiseHost: advertisedHost(settings),
      maxHeaderBytes: settings.maxRequestLineBytes,
    },
    fallbackErrors: () => problemErrors,
    onAnswer: requests.onAnswer,
    onRefusal: requests.onRefusal,
    onMalformed: requests.onMalformed,
    log: watch.requestLog,
  })
}

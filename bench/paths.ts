/** The operations that loads use, below a base such as `http://127.0.0.1:8848/svc/v1`. */
export function requestPaths(base: string) {
  return {
    list: `${base}/ns/instance/list`,
    configs: `${base}/cs/configs`,
    listener: `${base}/cs/configs/listener`,
    history: `${base}/cs/history`,
    service: `${base}/ns/service`,
    services: `${base}/ns/service/list`,
    namespaces: `${base}/console/namespaces`,
    backup: `${base}/operator/backup`,
    instance: `${base}/ns/instance`,
    beat: `${base}/ns/instance/beat`,
  }
}

/** Where an application connects, and what it is about. */
export interface Connected {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Empty: the default one. */
  readonly namespaceId: string
  /** Empty where nobody has to sign in. */
  readonly username: string
  readonly about:
    | { readonly kind: 'config'; readonly group: string; readonly dataId: string }
    | { readonly kind: 'service'; readonly group: string; readonly name: string }
}

/** A program for a library of clients. */
export interface Snippet {
  readonly library: string
  /** The command that installs the library, or its coordinates; empty: there is none. */
  readonly install: string
  /** The name of the file; empty: the code is commands of a shell. */
  readonly file: string
  /** The command that runs it. */
  readonly run: string
  readonly code: string
  /** Whether it connects by gRPC too, to the port 1000 above the one of the address. */
  readonly isGrpc: boolean
}

const q = (text: string): string => JSON.stringify(text)

/** A program for each library that is tested with this server. The password is read from the environment. */
export function snippetsFor(to: Connected): Snippet[] {
  return [java(to), go(to), node(to), python(to), rust(to), curl(to)]
}

const addressOf = ({ host, port }: Connected): string => `${host}:${port}`
/** Lines that only some need. */
const lines = (...all: readonly (string | false)[]): string => all.filter((line) => line !== false).join('\n')
/** The lines of a block inside another one. */
const indented = (code: string, by: string): string => code.replaceAll(/^(?=.)/gm, by)

function runBy(command: string, { username }: Connected): string {
  return username === '' ? command : `WAYPOST_PASSWORD='…' ${command}`
}

function java(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const start = lines(
    'Properties properties = new Properties();',
    `properties.put("serverAddr", ${q(addressOf(to))});`,
    namespaceId !== '' && `properties.put("namespace", ${q(namespaceId)});`,
    username !== '' && `properties.put("username", ${q(username)});`,
    username !== '' && 'properties.put("password", System.getenv("WAYPOST_PASSWORD"));',
  )
  const api = 'import com.alibaba.nacos.api.'
  const [imports, code] =
    about.kind === 'config'
      ? [
          `${api}config.ConfigService;\n${api}config.listener.AbstractListener;`,
          `ConfigService configs = NacosFactory.createConfigService(properties);
System.out.println(configs.getConfig(${q(about.dataId)}, ${q(about.group)}, 5000));
configs.addListener(${q(about.dataId)}, ${q(about.group)}, new AbstractListener() {
    @Override
    public void receiveConfigInfo(String changed) {
        System.out.println(changed);
    }
});`,
        ]
      : [
          `${api}naming.NamingService;\n${api}naming.listener.NamingEvent;`,
          `NamingService naming = NacosFactory.createNamingService(properties);
// The address of this application.
naming.registerInstance(${q(about.name)}, ${q(about.group)}, "127.0.0.1", 8080);
naming.subscribe(${q(about.name)}, ${q(about.group)},
    event -> System.out.println(((NamingEvent) event).getInstances()));`,
        ]
  const body = indented(`${start}\n\n${code}\nThread.currentThread().join();`, '        ')
  return {
    library: 'Java',
    install: 'com.alibaba.nacos:nacos-client:2.5.1',
    file: 'App.java',
    run: runBy("java -cp 'lib/*' App.java", to),
    code: `${api}NacosFactory;
${imports}
import java.util.Properties;

public class App {
    public static void main(String[] args) throws Exception {
${body}
    }
}`,
    isGrpc: true,
  }
}

function go(to: Connected): Snippet {
  const { host, port, namespaceId, username, about } = to
  const isConfig = about.kind === 'config'
  const sdk = 'github.com/nacos-group/nacos-sdk-go/v2'
  const imports = [
    'fmt',
    ...(username === '' ? [] : ['os']),
    ...['clients', 'common/constant', ...(isConfig ? [] : ['model']), 'vo'].map((one) => `${sdk}/${one}`),
  ]
  const start = lines(
    'params := vo.NacosClientParam{',
    '\tClientConfig: &constant.ClientConfig{',
    '\t\tTimeoutMs: 5000, NotLoadCacheAtStart: true,',
    namespaceId !== '' && `\t\tNamespaceId: ${q(namespaceId)},`,
    username !== '' && `\t\tUsername: ${q(username)}, Password: os.Getenv("WAYPOST_PASSWORD"),`,
    '\t},',
    `\tServerConfigs: []constant.ServerConfig{{IpAddr: ${q(host)}, Port: ${port}}},`,
    '}',
  )
  return {
    library: 'Go',
    install: `go mod init app && go get ${sdk}@v2.3.5`,
    file: 'main.go',
    run: runBy('go run .', to),
    code: `package main

import (
${imports.map((one) => `\t${q(one)}`).join('\n')}
)

func main() {
${indented(`${start}\n${goCalls(about)}\nselect {}`, '\t')}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}`,
    isGrpc: true,
  }
}

function goCalls(about: Connected['about']): string {
  return about.kind === 'config'
    ? `configs, err := clients.NewConfigClient(params)
must(err)
item := vo.ConfigParam{DataId: ${q(about.dataId)}, Group: ${q(about.group)}}
content, err := configs.GetConfig(item)
fmt.Println(content, err)
item.OnChange = func(_, _, _, changed string) { fmt.Println(changed) }
must(configs.ListenConfig(item))`
    : `naming, err := clients.NewNamingClient(params)
must(err)
_, err = naming.RegisterInstance(vo.RegisterInstanceParam{
\tServiceName: ${q(about.name)}, GroupName: ${q(about.group)},
\tIp: "127.0.0.1", Port: 8080, // the address of this application
\tWeight: 1, Enable: true, Healthy: true, Ephemeral: true,
})
must(err)
must(naming.Subscribe(&vo.SubscribeParam{ServiceName: ${q(about.name)}, GroupName: ${q(about.group)},
\tSubscribeCallback: func(instances []model.Instance, _ error) { fmt.Println(instances) }}))`
}

function node(to: Connected): Snippet {
  const { namespaceId, username, isTls, about } = to
  const isConfig = about.kind === 'config'
  const options = lines(
    isConfig ? `  serverAddr: ${q(addressOf(to))},` : `  serverList: ${q(addressOf(to))},`,
    `  namespace: ${q(isConfig ? namespaceId : namespaceId || 'public')},`,
    !isConfig && '  logger: console,',
    isTls && '  ssl: true,',
    username !== '' && `  username: ${q(username)},`,
    username !== '' && '  password: process.env.WAYPOST_PASSWORD,',
  )
  const code =
    about.kind === 'config'
      ? `const configs = new nacos.NacosConfigClient({
${options}
})
console.log(await configs.getConfig(${q(about.dataId)}, ${q(about.group)}))
configs.subscribe({ dataId: ${q(about.dataId)}, group: ${q(about.group)} }, (changed) => console.log(changed))`
      : `const naming = new nacos.NacosNamingClient({
${options}
})
await naming.ready()
// The address of this application.
await naming.registerInstance(${q(about.name)}, { ip: "127.0.0.1", port: 8080 }, ${q(about.group)})
naming.subscribe({ serviceName: ${q(about.name)}, groupName: ${q(about.group)} }, (hosts) => console.log(hosts))`
  return {
    library: 'Node.js',
    install: 'npm install nacos@2.6.3',
    file: 'app.mjs',
    run: runBy('node app.mjs', to),
    code: `import nacos from 'nacos'\n\n${code}`,
    isGrpc: false,
  }
}

function python(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const start = lines(
    `settings = (ClientConfigBuilder().server_address(${q(addressOf(to))})`,
    namespaceId !== '' && `    .namespace_id(${q(namespaceId)})`,
    username !== '' && `    .username(${q(username)}).password(os.environ["WAYPOST_PASSWORD"])`,
    '    .build())',
  )
  const [names, listener, code] =
    about.kind === 'config'
      ? [
          'ClientConfigBuilder, ConfigParam, NacosConfigService',
          'async def changed(tenant, data_id, group, content):\n    print(content)',
          `configs = await NacosConfigService.create_config_service(settings)
print(await configs.get_config(ConfigParam(data_id=${q(about.dataId)}, group=${q(about.group)})))
await configs.add_listener(${q(about.dataId)}, ${q(about.group)}, changed)`,
        ]
      : [
          'ClientConfigBuilder, NacosNamingService, RegisterInstanceParam, SubscribeServiceParam',
          'async def changed(instances):\n    print(instances)',
          `naming = await NacosNamingService.create_naming_service(settings)
await naming.register_instance(RegisterInstanceParam(
    service_name=${q(about.name)}, group_name=${q(about.group)},
    ip="127.0.0.1", port=8080))  # the address of this application
await naming.subscribe(SubscribeServiceParam(
    service_name=${q(about.name)}, group_name=${q(about.group)}, subscribe_callback=changed))`,
        ]
  return {
    library: 'Python',
    install: "pip install nacos-sdk-python==2.0.11   # or: nacos-sdk-python==3.0.4 'a2a-sdk<1'",
    file: 'app.py',
    run: runBy('python3 app.py', to),
    code: `import asyncio
${username === '' ? '' : 'import os\n'}from v2.nacos import (
    ${names})

${listener}

async def main():
${indented(`${start}\n${code}`, '    ')}
    await asyncio.Event().wait()

asyncio.run(main())`,
    isGrpc: true,
  }
}

function rust(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const user = username === '' ? '' : `, username=${q(username)}, password=os.environ["WAYPOST_PASSWORD"]`
  const code =
    about.kind === 'config'
      ? `configs = NacosConfigClient(options)
configs.add_listener(${q(about.dataId)}, ${q(about.group)}, lambda item: print(item.content))
print(configs.get_config(${q(about.dataId)}, ${q(about.group)}))`
      : `naming = NacosNamingClient(options)
# The address of this application.
naming.register_instance(${q(about.name)}, ${q(about.group)}, NacosServiceInstance("127.0.0.1", 8080))
naming.subscribe(${q(about.name)}, ${q(about.group)}, [], lambda instances: print([one.port for one in instances]))`
  return {
    library: 'Rust',
    install: 'pip install nacos-sdk-rust-binding-py==0.8.0',
    file: 'app.py',
    run: runBy('NACOS_CLIENT_COMMON_THREAD_CORES=64 python3 app.py', to),
    code: `${username === '' ? '' : 'import os\n'}import threading
from nacos_sdk_rust_binding_py import *

options = ClientOptions(${q(addressOf(to))}, ${q(namespaceId)}${user})
${code}
threading.Event().wait()`,
    isGrpc: true,
  }
}

function curl(to: Connected): Snippet {
  const { namespaceId, username, isTls, about } = to
  const server = `${isTls ? 'https' : 'http'}://${addressOf(to)}`
  const names = new URLSearchParams(
    about.kind === 'config'
      ? { dataId: about.dataId, group: about.group, ...(namespaceId === '' ? {} : { tenant: namespaceId }) }
      : { serviceName: about.name, groupName: about.group, ...(namespaceId === '' ? {} : { namespaceId }) },
  )
  const path = about.kind === 'config' ? '/svc/v1/cs/configs' : '/svc/v1/ns/instance/list'
  const signIn = lines(
    username !== '' &&
      `token=$(curl -s '${server}/svc/v1/auth/login' -d username=${username} \\
  --data-urlencode password="$WAYPOST_PASSWORD" | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
  )
  const header = username === '' ? '' : ' -H "Authorization: Bearer $token"'
  return {
    library: 'curl',
    install: '',
    file: '',
    run: '',
    code: lines(signIn !== '' && signIn, `curl '${server}${path}?${names.toString()}'${header}`),
    isGrpc: false,
  }
}

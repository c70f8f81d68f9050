import type { Command } from 'commander'
import { action, addExamples } from '../../command/command-line.ts'
import { addNamespacedOptions } from '../server-options.ts'
import type { WatchFlags } from '../live-events.ts'
import type { TimelineFlags } from './timeline.ts'
import type { InstanceFlags, ExplainFlags, ServiceFlags, ServiceListFlags } from './services.ts'

const services = () => import('./services.ts')

/** Adds `service`. */
export function addServiceCommands(program: Command): void {
  const service = program
    .command('service')
    .summary('look at services, and switch their instances on and off')
    .description(
      'Looks at services and their instances. A service is named by its name, in the group of --group (default: DEFAULT_GROUP), ' +
        'or as GROUP@@NAME, as lists print it.',
    )
  addReading(service)
  addTimeline(service)
  addDismiss(service)
  addExplain(service)
  addChanging(service)
  addWatch(service)
}

/** A command about one service. */
function serviceCommand(service: Command, name: string, description: string): Command {
  return service
    .command(name)
    .description(description)
    .argument('<service>', 'the name, or GROUP@@NAME')
    .option('-g, --group <group>', 'the group (default: DEFAULT_GROUP)')
}

function addReading(service: Command): void {
  const list = service
    .command('list')
    .description('Lists the services of a namespace.')
    .argument('[text]', 'a part of the name')
    .option('-g, --group <group>', 'only this group')
    .option('--health <state>', 'only those in this state, as the console calls them')
    .action(
      action<ServiceListFlags>(async (flags, _, [text]) => (await services()).listServices(flags, text)),
    )
  addNamespacedOptions(list)
  addExamples(list, [['waypost service list -n prod', '']])
  const show = serviceCommand(service, 'show', 'Shows a service with its clusters and health checks.').action(
    action<ServiceFlags>(async (flags, _, [name]) => (await services()).showService(flags, name!)),
  )
  addNamespacedOptions(show)
  const instances = serviceCommand(
    service,
    'instances',
    'Lists the instances of a service: why each is healthy or not, and when it leaves.',
  )
    .option('--cluster <name>', 'only this cluster')
    .action(action<InstanceFlags>(async (flags, _, [name]) => (await services()).listInstances(flags, name!)))
  addNamespacedOptions(instances)
  addExamples(instances, [
    ['waypost service instances shop -o name', 'addresses alone, for `service disable`'],
  ])
}

function addTimeline(service: Command): void {
  const timeline = serviceCommand(
    service,
    'timeline',
    'Lists what has happened to the instances of a service, newest first, with the cause.',
  )
    .option('--ip <address>', 'only instances of this address')
    .action(
      action<TimelineFlags>(async (flags, _, [name]) =>
        (await import('./timeline.ts')).timelineOf(flags, name!),
      ),
    )
  addNamespacedOptions(timeline)
  addExamples(timeline, [['waypost service timeline shop --ip 10.0.0.7', '']])
}

function addDismiss(service: Command): void {
  const dismiss = serviceCommand(
    service,
    'dismiss',
    'Leaves a service whose last instance has left out of what `waypost status` names.',
  ).action(action<ServiceFlags>(async (flags, _, [name]) => (await services()).dismissService(flags, name!)))
  addNamespacedOptions(dismiss)
  addExamples(dismiss, [['waypost service dismiss shop', '']])
}

function addExplain(service: Command): void {
  const explain = serviceCommand(service, 'explain', 'Says which instances a client gets, and why.')
    .option('--ip <address>', 'the address of the client (default: that of this machine)')
    .option('--clusters <names>', 'the clusters that the client asks for')
    .option('--healthy-only', 'the client asks for healthy ones only')
    .action(action<ExplainFlags>(async (flags, _, [name]) => (await services()).explainService(flags, name!)))
  addNamespacedOptions(explain)
  addExamples(explain, [['waypost service explain shop --ip 10.0.3.7', '']])
}

function addChanging(service: Command): void {
  const instanceCommand = (name: string, description: string): Command =>
    serviceCommand(service, name, description).option(
      '--cluster <name>',
      'the cluster, where several have the address',
    )
  const switching = (name: 'disable' | 'enable', description: string): Command =>
    instanceCommand(name, description)
      .argument('<instances...>', 'addresses: IP:PORT')
      .action(
        action<InstanceFlags>(async (flags, _, [of, ...addresses]) =>
          (await services()).changeInstances(flags, { name: of!, addresses }, { enabled: name === 'enable' }),
        ),
      )
  const disable = switching(
    'disable',
    'Takes instances out of service: clients do not get them, until they are enabled.',
  )
  addNamespacedOptions(disable)
  addExamples(disable, [['waypost service disable shop 10.0.0.7:8080', '']])
  addNamespacedOptions(switching('enable', 'Puts disabled instances into service.'))
  const lift = instanceCommand(
    'lift',
    'Lifts what operators have set: instances are as their applications say.',
  )
    .argument('<instances...>', 'addresses: IP:PORT')
    .action(
      action<InstanceFlags>(async (flags, _, [name, ...addresses]) =>
        (await services()).changeInstances(flags, { name: name!, addresses }, { lift: true }),
      ),
    )
  addNamespacedOptions(lift)
  addExamples(lift, [['waypost service lift shop 10.0.0.7:8080', 'weight, traffic and metadata']])
  const weight = instanceCommand('weight', 'Changes the weight of instances.')
    .argument('<weight>', 'from 0 to 10000; 0: clients do not get them')
    .argument('<instances...>', 'addresses: IP:PORT')
    .action(
      action<InstanceFlags>(async (flags, _, [name, value, ...addresses]) =>
        (await services()).changeInstances(flags, { name: name!, addresses }, { weight: value! }),
      ),
    )
  addNamespacedOptions(weight)
  addExamples(weight, [['waypost service weight shop 0.1 10.0.0.7:8080 10.0.0.8:8080', '']])
}

function addWatch(service: Command): void {
  const watch = service
    .command('watch')
    .description('Prints what happens to instances as it comes, a line each, until it is interrupted.')
    .argument('[services...]', 'only these services')
    .option('-g, --group <group>', 'only this group')
    .option('--once', 'end after the first change')
    .action(
      action<ServiceFlags & WatchFlags>(async (flags, _, names) =>
        (await import('./watch-services.ts')).watchServices(flags, names),
      ),
    )
  addNamespacedOptions(watch)
  addExamples(watch, [['waypost service watch shop', '']])
}

// Serves one app of a suite: `http-process.ts http|single FRAMEWORK CONTESTANT`. It reports its port to the parent and,
// on request, its processor time in microseconds. It ends with the parent.
import type { AddressInfo } from 'node:net'
import { type AppStart, FRAMEWORKS as HTTP } from './http/apps.ts'
import { cpuUs } from './rounds.ts'
import { FRAMEWORKS as SINGLE } from './single/apps.ts'

const [, , suite = '', framework = '', contestant = ''] = process.argv
const frameworks: Readonly<Record<string, Readonly<Record<string, AppStart>>>> = suite === 'http' ? HTTP : SINGLE
const start = frameworks[framework]?.[contestant]
if (start === undefined) throw new Error(`no ${contestant} of ${framework}`)
const server = await start()
// Connections stay open while other contestants have their turn.
server.keepAliveTimeout = 600_000
process.send?.((server.address() as AddressInfo).port)
process.on('message', () => process.send?.(cpuUs()))
process.once('disconnect', () => process.exit())

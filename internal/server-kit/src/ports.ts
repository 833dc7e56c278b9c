import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Another process may take the port between the check and the server's start. Then another port is tried. */
export async function startOnFreePort<T>(start: (port: number) => Promise<T>): Promise<{ port: number; running: T }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      return { port, running: await start(port) }
    } catch (error) {
      if (attempt === 5 || !/already in use/i.test(String(error))) throw error
    }
  }
}

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

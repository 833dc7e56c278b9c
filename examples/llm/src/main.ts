import type { AddressInfo } from 'node:net'
import { chatServer } from './server.ts'
import { playStory } from './story.ts'

const { app, models } = chatServer()
const server = app.listen(0, async () => {
  const { port } = server.address() as AddressInfo
  await playStory(`http://127.0.0.1:${port}`, models, (line) => console.log(line))
  server.close()
})

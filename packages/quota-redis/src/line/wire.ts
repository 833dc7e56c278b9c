import type { Command, Redis } from 'ioredis'
import type { Reply, Word } from './line.ts'

/**
 * Sends commands that are put together here: of hundreds of words, which the client's own way would look at four times
 * each. The client does the rest, as for its own commands.
 */
export class Wire {
  readonly #redis: Redis
  readonly #commands: typeof Command

  constructor(redis: Redis) {
    this.#redis = redis
    this.#commands = commandsOf(redis)
  }

  send(words: readonly Word[]): Promise<Reply> {
    const command = new this.#commands(String(words[0]))
    command.toWritable = () => wireBytes(words)
    this.#redis.sendCommand(command)
    return command.promise as Promise<Reply>
  }
}

/** What a client's commands are made by: its library may be another copy than the one that is found from here. */
function commandsOf(redis: Redis): typeof Command {
  let made: Command | undefined
  const sendCommand = (command: Command): Promise<unknown> => {
    made = command
    return command.promise
  }
  const unsent = Object.create(redis, { sendCommand: { value: sendCommand } }) as Redis
  void unsent.callBuffer('PING')
  return made!.constructor as typeof Command
}

/** A command as it goes over the wire. */
export function wireBytes(words: readonly Word[]): Buffer {
  const parts: (string | Buffer)[] = []
  let text = `*${words.length}\r\n`
  for (const word of words) {
    if (Buffer.isBuffer(word)) {
      parts.push(`${text}$${word.length}\r\n`, word)
      text = '\r\n'
    } else {
      const written = typeof word === 'string' ? word : String(word)
      text += `$${written.length}\r\n${written}\r\n`
    }
  }
  parts.push(text)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const part of parts) {
    if (Buffer.isBuffer(part)) at += part.copy(bytes, at)
    else if (Buffer.byteLength(part) === part.length) at += bytes.write(part, at, 'latin1')
    else return wireBytes(words.map((word) => (Buffer.isBuffer(word) ? word : Buffer.from(String(word)))))
  }
  return bytes
}

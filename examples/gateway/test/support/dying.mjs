import Database from 'libsql'

/*
 * Loaded into a gateway before its own code: the process dies, as by `kill -9`, when it is about to make a statement that
 * begins with DIES_AT, from the first purchase on.
 */
const { prepare } = Database.prototype
let isBuying = false

Database.prototype.prepare = function (text, ...rest) {
  isBuying ||= text.startsWith('insert into "tickets"')
  if (isBuying && text.startsWith(process.env.DIES_AT)) process.kill(process.pid, 'SIGKILL')
  return prepare.call(this, text, ...rest)
}

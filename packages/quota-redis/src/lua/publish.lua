-- Publishes a message. Returns the error of a user who may not publish: the change itself was made, and other processes
-- find it when they poll.
local function publish(channel, message)
  local reply = redis.pcall('PUBLISH', channel, message)
  return type(reply) == 'table' and reply.err
end

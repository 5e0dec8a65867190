// The Node.js clients of outage.py: NAME BOOTSTRAP TOPIC PARTITIONS RECORDS PAUSE, the pause in microseconds.
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const [name, bootstrap, topic, partitions, records, pause] = process.argv.slice(2)
let left = partitions * records

async function take (partition, offset) {
  writeSync(1, `${Date.now()} ${partition} ${offset}\n`)
  if (--left % 20 === 0) await setTimeout((pause * 20) / 1000)
}

if (name === 'kafkajs') {
  const { Kafka, logLevel } = (await import('kafkajs')).default
  const consumer = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR }).consumer({ groupId: name })
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) {
      console.error(payload.error)
      process.exit(1)
    }
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => {
      await take(partition, message.offset)
      if (left === 0) process.exit(0)
    }
  })
} else {
  const { Consumer } = await import('@platformatic/kafka')
  const consumer = new Consumer({ groupId: 'platformatic', clientId: 'platformatic', bootstrapBrokers: [bootstrap] })
  const stream = await consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
  for await (const message of stream) {
    await take(message.partition, message.offset)
    if (left === 0) process.exit(0)
  }
}

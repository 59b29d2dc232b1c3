/**
 * What the dialogues are about: for each domain its slots, as label, what people call it, and the kind of value it has, and the
 * things that are talked about besides. All of it is made up for this comparison.
 */

import type { ValueKind } from "./slot-values.ts";

export interface Slot {
  readonly label: string;
  /** As it stands in a sentence. */
  readonly called: string;
  readonly kind: ValueKind;
}

export interface Topic {
  readonly name: string;
  readonly slots: readonly Slot[];
  readonly things: readonly string[];
}

/** Everybody's. */
const PERSON = `
USER.name | my full name | person
USER.location | the town I live in | town
USER.language | the language for letters | language
USER.timezone | my time zone | zone
USER.role | what I do for a living | phrase
PEOPLE.partner | my partner's name | person
CONTACT.phone | my own number | phone
CONTACT.email | my address for mail | email
CONTACT.post | my postal address | address
CONTACT.emergency | the number for emergencies | phone
PREF.tone | how I like to be answered | manner
PREF.schedule | when I can be reached | span`;

const TRAVEL = `
TRAVEL.hotel | the hotel | house
TRAVEL.hotel_reference | the hotel's booking reference | code
TRAVEL.outbound_flight | the flight out | flight
TRAVEL.return_flight | the flight back | flight
TRAVEL.departure | the day we leave | date
TRAVEL.return_day | the day we come home | date
TRAVEL.budget | the budget for the whole trip | money
TRAVEL.train | the night train | code
TRAVEL.seat | the seat I want | phrase
TRAVEL.driver | the driver's name | person
TRAVEL.driver_phone | the driver's number | phone
TRAVEL.pickup | the time of the pick-up | time
TRAVEL.meeting_point | the meeting point | address
TRAVEL.insurance | the policy number of the insurance | code
TRAVEL.passport | the number of my passport | code
TRAVEL.visa_end | the end of the visa | date
TRAVEL.guide | the guide in the mountains | person
TRAVEL.guide_mail | the guide's mail | email
TRAVEL.museum | the slot at the museum | time
TRAVEL.dinner | the restaurant for the last evening | house
TRAVEL.dinner_time | the table on the last evening | time
TRAVEL.luggage | the weight of the luggage | amount
TRAVEL.car | the class of the rental car | phrase
TRAVEL.car_price | the price of the rental car | money
TRAVEL.second_town | the second town on the way | town
TRAVEL.embassy | the embassy's number | phone
TRAVEL.adapter | the plug that we need | code
TRAVEL.diet | what the airline should know about food | phrase
TRAVEL.map | the page with the route | path
TRAVEL.deposit | the deposit for the cabin | money`;

const HOME = `
HOME.plumber | the plumber | person
HOME.plumber_phone | the plumber's number | phone
HOME.boiler | the model of the boiler | code
HOME.boiler_service | the next service of the boiler | date
HOME.paint | the colour of the hall | phrase
HOME.rent | the rent from spring on | money
HOME.landlord | the landlord's name | person
HOME.landlord_mail | the landlord's mail | email
HOME.bins | the day of the bins | span
HOME.alarm_code | the code of the alarm | pin
HOME.electricity | the number of the electricity meter | code
HOME.reading | the last reading of the meter | amount
HOME.filter | the filter of the kitchen hood | code
HOME.sitter | the neighbour who waters the plants | person
HOME.sitter_phone | the number of whoever waters the plants | phone
HOME.school | the school's office | phone
HOME.teacher | the class teacher | person
HOME.swimming | the swimming lesson | span
HOME.vet | the vet's address | address
HOME.cat_food | what the cat may eat | phrase
HOME.cat_chip | the number of the cat's chip | code
HOME.freezer | the capacity of the freezer | amount
HOME.ladder | how the ladder is carried | phrase
HOME.insurance | the contract of the house insurance | code
HOME.car_check | the inspection of the car | date
HOME.parking | the permit for parking | code
HOME.shelf | the width of the shelf | amount
HOME.delivery | the day the sofa comes | date
HOME.sofa_price | the price of the sofa | money
HOME.firewood | the place for the firewood | phrase`;

const WORK = `
PROJ.repo | the repository | path
PROJ.branch | the branch for the release | branch
PROJ.goal | the goal of the quarter | phrase
PROJ.stack | the database that we chose | product
PROJ.constraint | the rule for merges | phrase
TASK.deadline | the deadline of the release | date
TASK.owner | the owner of the migration | person
TASK.blocked_on | what the migration waits for | code
WORK.customer | the customer's contact | person
WORK.customer_mail | the customer's mail | email
WORK.customer_phone | the customer's number | phone
WORK.ticket | the ticket of the outage | code
WORK.budget | the budget of the project | money
WORK.invoice | the number of the invoice | code
WORK.standup | the time of the stand-up | time
WORK.room | the room of the review | code
WORK.reviewer | the second reviewer | person
WORK.staging | the address of staging | path
WORK.region | the region of the servers | region
WORK.retention | how long logs are kept | amount
WORK.latency | the limit for the slowest answer | amount
WORK.freeze | the start of the freeze | date
WORK.oncall | who is on call | person
WORK.oncall_phone | the number on call | phone
WORK.vendor | the vendor for the hardware | house
WORK.contract | the contract with the vendor | code
WORK.version | the version that we are on | version
WORK.next_version | the version to go to | version
WORK.office | the new office | address
WORK.backup | where the backups go | path`;

const HEALTH = `
HEALTH.doctor | my doctor | person
HEALTH.doctor_phone | the practice's number | phone
HEALTH.practice | the address of the practice | address
HEALTH.appointment | the next appointment | date
HEALTH.appointment_time | the hour of the appointment | time
HEALTH.insurance | the number of my insurance | code
HEALTH.medicine | the medicine for blood pressure | dose
HEALTH.second_medicine | the tablets for the evening | dose
HEALTH.allergy | what I am allergic to | phrase
HEALTH.weight | my weight | amount
HEALTH.height | my height | amount
HEALTH.pressure | the last blood pressure | amount
HEALTH.physio | the physiotherapist | person
HEALTH.physio_day | the day of physiotherapy | span
HEALTH.exercise | the exercise for the knee | phrase
HEALTH.pharmacy | the pharmacy | house
HEALTH.pharmacy_phone | the pharmacy's number | phone
HEALTH.dentist | the dentist | person
HEALTH.dentist_day | the day at the dentist's | date
HEALTH.vaccination | the last vaccination | date
HEALTH.batch | the batch of the vaccine | code
HEALTH.diet | what I should eat less of | phrase
HEALTH.sugar | the blood sugar in the morning | amount
HEALTH.sleep | how long I sleep | amount
HEALTH.referral | the number of the referral | code
HEALTH.clinic | the clinic for the scan | house
HEALTH.scan | the day of the scan | date
HEALTH.glasses | the strength of my glasses | code
HEALTH.copayment | what I pay myself | money
HEALTH.walk | my walk in the evening | phrase`;

const SUPPORT = `
CASE.number | the number of the case | code
ORDER.number | the order | code
ORDER.date | the day of the order | date
ORDER.total | what I paid | money
ORDER.item | the article | product
ORDER.serial | the serial number | code
ORDER.problem | what is broken | phrase
ORDER.refund | the refund that was promised | money
ORDER.return_label | the number of the return label | code
ORDER.pickup | the day of the collection | date
ORDER.pickup_span | the hours of the collection | span
ORDER.courier | the courier's number | phone
ORDER.tracking | the tracking number | code
ORDER.address | the address for the new one | address
ORDER.colour | the colour of the new one | phrase
ORDER.voucher | the voucher | code
CUSTOMER.number | my customer number | code
CUSTOMER.company | my company | house
CUSTOMER.vat | the tax number | code
CUSTOMER.contract | the contract | code
CUSTOMER.plan | the plan I have | product
CUSTOMER.renewal | the day it renews | date
CUSTOMER.price | the price a month | money
CASE.agent | who I spoke to last | person
CASE.agent_mail | the mail of whoever I spoke to | email
CASE.callback | the time of the call back | time
CASE.firmware | the firmware on it | version
CASE.router | the name of the device | branch
CASE.log | the page with the log | path
CASE.technician | the technician | person`;

function slotsOf(text: string): Slot[] {
  return `${text}${PERSON}`
    .trim()
    .split("\n")
    .map((line) => {
      const [label = "", called = "", kind] = line.split(" | ");
      return { label, called, kind: kind as ValueKind };
    });
}

const words = (text: string) => text.split(", ");

export const TOPICS: readonly Topic[] = [
  {
    name: "travel",
    slots: slotsOf(TRAVEL),
    things: words(
      "the coast road, the old harbour, the ferry, the mountains, the airport, the rainy season, the markets",
    ),
  },
  {
    name: "household",
    slots: slotsOf(HOME),
    things: words(
      "the kitchen, the cellar, the garden fence, the washing machine, the school run, the hall, the roof",
    ),
  },
  {
    name: "work project",
    slots: slotsOf(WORK),
    things: words(
      "the importer, the test suite, the release notes, the on-call rota, the dashboards, the old service",
    ),
  },
  {
    name: "health",
    slots: slotsOf(HEALTH),
    things: words(
      "the stairs, the knee, the waiting room, the new tablets, the winter, the evening meal, the garden work",
    ),
  },
  {
    name: "support case",
    slots: slotsOf(SUPPORT),
    things: words("the parcel, the manual, the cable, the first device, the app, the invoice, the hotline"),
  },
];

//! Animals.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("animal", "animal.animal"),
    pick("animalType", "animal.type"),
    pick("bird", "animal.bird"),
    pick("cat", "animal.cat"),
    pick("dog", "animal.dog"),
    pick("farmAnimal", "animal.farm"),
    pick("petName", "animal.petname"),
];
